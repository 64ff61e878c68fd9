# SPDX-License-Identifier: Apache-2.0
#
# Run by cpack when the files of all packages are in place, before they are packed: adds what Debian wants in each package.
cmake_minimum_required(VERSION 3.25)

find_program(gzip gzip REQUIRED)

# compress(<file>...): without name and time, so that the same content gives the same file.
function(compress)
  execute_process(COMMAND "${gzip}" -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
# In UTC, and of SOURCE_DATE_EPOCH if that is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}")
  if(NOT IS_DIRECTORY "${root}")
    message(FATAL_ERROR "nothing is installed for the component ${component}")
  endif()
  string(TOUPPER "${component}" name)
  set(doc_dir "${root}/usr/share/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME}")
  configure_file("${CPACK_ZKRECIPES_SOURCE_DIR}/packaging/debian/copyright" "${doc_dir}/copyright" COPYONLY)
  configure_file("${CPACK_ZKRECIPES_SOURCE_DIR}/CHANGELOG.md" "${doc_dir}/changelog" COPYONLY)
  file(WRITE "${doc_dir}/changelog.Debian"
    "zkrecipes (${version}) unstable; urgency=medium\n\n  * Built by cpack; changelog.gz has the changes.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress("${doc_dir}/changelog" "${doc_dir}/changelog.Debian")
  file(CHMOD "${doc_dir}/copyright" "${doc_dir}/changelog.gz" "${doc_dir}/changelog.Debian.gz"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB pages "${root}/usr/share/man/man*/*.[0-9]")
  if(pages)
    compress(${pages})
  endif()
  # cpack makes folders with the umask of its user, which may keep others out. Not file(CHMOD_RECURSE), which stops at a link
  # whose target is in another package.
  execute_process(COMMAND find "${root}" -type d -exec chmod 755 {} + COMMAND_ERROR_IS_FATAL ANY)
endforeach()
