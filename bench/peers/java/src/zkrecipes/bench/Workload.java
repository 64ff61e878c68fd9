// SPDX-License-Identifier: Apache-2.0
package zkrecipes.bench;

/** Something to be measured, of one peer. Connected once constructed. */
interface Workload {
    /** What must be in place before a run and is not measured. */
    default void prepare(int cycles) throws Exception {}

    void run(int cycles) throws Exception;
}
