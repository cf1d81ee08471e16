// Command withpostgres runs a command, such as go test, with one PostgreSQL server
// for the tests of all packages:
//
//	withpostgres go test ./...
//
// The server ends with the command, also when that fails or a signal ends it. The exit
// code is that of the command.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	if len(args) == 0 {
		return 2, errors.New("no command; use withpostgres COMMAND, such as withpostgres go test ./engine")
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	dir, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	server, err := pgtest.StartRun(dir)
	if err != nil {
		return 1, err
	}
	defer server.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), server.Env())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return await(cmd, ended, signals)
}

// await waits for the command, and passes signals on to it and to its child processes. The second
// signal kills them.
func await(cmd *exec.Cmd, ended <-chan error, signals <-chan os.Signal) (code int, err error) {
	var received os.Signal
	for {
		select {
		case s := <-signals:
			if received != nil {
				s = syscall.SIGKILL
			}
			received = s
			signalGroup(cmd, s)
		case err := <-ended:
			if received != nil {
				signalGroup(cmd, syscall.SIGKILL) // child processes that the command left running
				return 1, fmt.Errorf("ended by a signal: %s", received)
			}
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				return max(1, exit.ExitCode()), nil
			}
			if err != nil {
				return 1, err
			}
			return 0, nil
		}
	}
}
