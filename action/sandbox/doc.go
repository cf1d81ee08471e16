// Package sandbox starts one program in isolation from the process that starts it. It knows nothing of jobs.
//
// [Open] finds the program and checks who can change it, [Start] executes the file that was checked, and [Process.Wait] returns when
// nothing of it is left. What the program can reach is its [Policy].
//
// The program is started by a second process of the same executable, the shim, which isolates itself first. The shim runs in an init
// function, before the rest of the executable initialises, so every program and every test that imports this package can start
// sandboxed programs. Decision 0019 describes the parts.
//
// On systems other than Linux only the isolation [None] works.
package sandbox
