// Command rota is the Rota server and its command-line client in one binary. newRootCommand lists the commands; files
// are named after them.
package main

import (
	"io"
	"os"
	"time"

	_ "time/tzdata" // time zones by name, for machines without a zone database
)

func main() {
	host, _ := os.Hostname() // empty if the system does not know it
	os.Exit(run(os.Args[1:], environment{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, now: time.Now, getenv: os.Getenv, host: host, terminal: detectTerminal(os.Stdin, os.Stdout, os.Stderr),
	}))
}

// environment is everything that the program takes from its process. Tests replace it.
type environment struct {
	in       io.Reader
	out      io.Writer
	err      io.Writer
	now      func() time.Time
	getenv   func(string) string
	host     string // name of this machine; empty if unknown
	terminal terminal

	reconnectTimeout time.Duration // how long to wait for a lost server; 0 means reconnectTimeoutDefault
}

// run executes one command line and returns the exit code.
func run(args []string, env environment) int {
	a := &app{environment: env, output: formatTable}
	root := newRootCommand(a)
	args = protectDashedArgs(root, args)
	root.SetArgs(append([]string{}, args...)) // cobra would read os.Args instead of nil
	err := root.Execute()
	if err != nil && !a.started {
		err = usage(err, usageHint(root, args)) // cobra rejected the command line before a command started
	}
	report(env.err, err)
	return exitCode(err)
}
