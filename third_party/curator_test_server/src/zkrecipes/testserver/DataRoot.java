// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The one directory under which this process keeps everything it writes, in memory where the system offers that, unless told
 * otherwise.
 *
 * <p>A locked file marks it as in use. A process that was killed leaves its directory behind, unlocked; the next one
 * removes it.
 */
final class DataRoot {
    private static final String PREFIX = "zkrecipes-test-server-";
    private static final String LOCK_FILE = "in-use";

    private final Path path;
    /** Kept open: closing the channel would give up the lock. */
    private final FileChannel lockChannel;

    private DataRoot(Path path, FileChannel lockChannel) {
        this.path = path;
        this.lockChannel = lockChannel;
    }

    static DataRoot create() throws IOException {
        Path memory = Path.of("/dev/shm");
        Path parent = Files.isDirectory(memory) && Files.isWritable(memory)
                ? memory
                : Path.of(System.getProperty("java.io.tmpdir"));
        return create(parent);
    }

    static DataRoot create(Path parent) throws IOException {
        Files.createDirectories(parent);
        removeAbandoned(parent);
        Path path = Files.createTempDirectory(parent, PREFIX);
        // Renamed after locking, so that nobody sees the file without its lock.
        Path unlocked = path.resolve(LOCK_FILE + ".new");
        FileChannel channel = FileChannel.open(unlocked, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        channel.lock();
        Files.move(unlocked, path.resolve(LOCK_FILE));
        return new DataRoot(path, channel);
    }

    Path resolve(String name) {
        return path.resolve(name);
    }

    void remove() {
        removeTree(path);
        try {
            lockChannel.close();
        } catch (IOException e) {
            // The lock goes with the process.
        }
    }

    static void removeTree(Path root) {
        // Servers may still be writing: what appears while we look is caught by looking again.
        for (int attempt = 0; attempt < 3 && Files.exists(root); attempt++) {
            List<Path> paths;
            try (Stream<Path> walk = Files.walk(root)) {
                paths = walk.sorted(Comparator.reverseOrder()).collect(Collectors.toList());
            } catch (IOException | UncheckedIOException e) {
                continue;
            }
            for (Path each : paths) {
                try {
                    Files.deleteIfExists(each);
                } catch (IOException e) {
                    // Not empty any more: the next attempt.
                }
            }
        }
    }

    private static void removeAbandoned(Path parent) {
        try (DirectoryStream<Path> candidates = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path candidate : candidates) {
                if (isAbandoned(candidate)) {
                    removeTree(candidate);
                }
            }
        } catch (IOException e) {
            // Tidying up after others is a courtesy.
        }
    }

    private static boolean isAbandoned(Path candidate) {
        try (FileChannel channel = FileChannel.open(candidate.resolve(LOCK_FILE), StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            return lock != null;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            return false;
        }
    }
}
