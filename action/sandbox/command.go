package sandbox

import (
	"io"
	"syscall"
	"time"
)

// ResultVariable names the variable of the environment that holds the number of the descriptor for the result.
const ResultVariable = "ROTA_RESULT_FD"

// Command is one execution of a program.
type Command struct {
	Program *Program
	Args    []string // without the name of the program, which is as it was passed to Open
	Env     []string // exactly the environment of the program, as NAME=value; with a Result also ResultVariable
	Dir     string   // overrides Policy.Dir

	// The program reads nothing from a nil Stdin, and its output to nil writers is discarded. An *os.File is passed to the program
	// itself. Wait waits for Stdin only as long as the program runs, and until the writers have taken all output.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Result         io.Writer // receives what the program writes to descriptor 3; nil: it has no such descriptor

	Policy  Policy
	Timeout time.Duration // bounds the processor time where there is no other way; the caller ends the program by Terminate and Kill
}

// Exit is how a program ended.
type Exit struct {
	Code     int            // exit code, -1 if a signal ended it
	Signal   syscall.Signal // signal that ended it, else 0
	Killed   bool           // whether Kill was called before the end
	CPU      time.Duration  // processor time of the program and of the children that it waited for
	MemoryKB int64          // largest resident set of one of its processes, in KiB
	Limit    string         // the limit that ended it, if known: "memory", "cpu" or "file size"
}
