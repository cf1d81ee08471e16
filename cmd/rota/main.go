// Command rota is the scheduler and everything that talks to it, in one binary.
package main

import (
	"io"
	"os"
	"time"

	_ "time/tzdata" // zones by name, on machines that have none
)

func main() {
	os.Exit(run(os.Args[1:], environment{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, now: time.Now, getenv: os.Getenv, terminal: detectTerminal(os.Stdin, os.Stdout, os.Stderr),
	}))
}

// environment is what the program takes from its surroundings. Tests give it others.
type environment struct {
	in       io.Reader
	out      io.Writer
	err      io.Writer
	now      func() time.Time
	getenv   func(string) string
	terminal terminal

	reconnectTimeout time.Duration // how long a server that went away is waited for; 0: as long as is sensible
}

// run is the program without the process: it returns the exit code.
func run(args []string, env environment) int {
	a := &app{environment: env, output: formatTable}
	root := newRootCommand(a)
	args = protectDashedArgs(root, args)
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for the arguments of the process
	err := root.Execute()
	if err != nil && !a.started {
		err = usage(err, usageHint(root, args)) // cobra refused the command line before any command began
	}
	report(env.err, err)
	return exitCode(err)
}
