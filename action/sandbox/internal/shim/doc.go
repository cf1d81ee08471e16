// Package shim is the process between a server and a sandboxed program: the same executable, started again. It isolates itself as its
// [Settings] say, starts the program, and ends with it.
//
// The shim runs in an init function. Go initialises the packages of a program in the order of their import paths, as soon as what they
// import is initialised. This package imports little, so the shim runs before the expensive initialisation of other packages. Keep it
// so: every command would pay for another import.
package shim
