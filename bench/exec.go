package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/rotajobs/rota/action/sandbox"
	"golang.org/x/sys/unix"
)

// The cost of a sandboxed program: /bin/true in isolation, and started by fork and exec.
const (
	execCase      = "exec/true"
	execLargeCase = "exec/true/large"
	execFloodCase = "exec/output"

	execMost    = 12 // times the cost of fork and exec
	execStarts  = 20 // in a turn
	execMemory  = 256 << 20
	execProgram = "/bin/true"
	execWriter  = "/usr/bin/head"
	execOutput  = 100_000_000 // bytes of a program that writes as fast as it can
	execBare    = "fork and exec"
)

func execBenchmarks() []benchmark {
	most := func(name string) []bar {
		return []bar{{caseName: name, subject: string(sandbox.Full), against: execBare, most: execMost}}
	}
	return []benchmark{
		{cases: []string{execCase}, bars: most(execCase), run: func(b *bench) error { return execTurns(b, execCase) }},
		{cases: []string{execLargeCase}, bars: most(execLargeCase), run: execLarge},
		{cases: []string{execFloodCase}, run: execFlood},
	}
}

// execLarge measures a process with much memory. A process with another user namespace starts by a copy of the page tables.
func execLarge(b *bench) error {
	memory, err := unix.Mmap(-1, 0, execMemory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil && err != unix.EINVAL {
		return err
	}
	for i := 0; i < len(memory); i += unix.Getpagesize() {
		memory[i] = 1
	}
	return errors.Join(execTurns(b, execLargeCase), unix.Munmap(memory))
}

func execTurns(b *bench, caseName string) error {
	subjects := []turnSubject{{execBare, func(context.Context) (float64, error) {
		return execTimes(b, func() error { return exec.Command(execProgram).Run() })
	}}}
	for _, isolation := range []sandbox.Isolation{sandbox.Full, sandbox.Landlock, sandbox.None} {
		if _, err := sandbox.Probe(isolation); err != nil {
			return err
		}
		policy := sandbox.Policy{Isolation: isolation, Allow: []string{execProgram}, Read: sandbox.DefaultRead()}
		program, err := sandbox.Open(execProgram, policy)
		if err != nil {
			return err
		}
		defer program.Close()
		command := sandbox.Command{Program: program, Policy: policy}
		subjects = append(subjects, turnSubject{string(isolation), func(context.Context) (float64, error) {
			return execTimes(b, func() error { return execSandboxed(command) })
		}})
	}
	return b.takeTurns(caseName, "time per start and end of "+execProgram, subjects...)
}

// execTimes returns the median of a turn, in µs.
func execTimes(b *bench, start func() error) (float64, error) {
	var times []time.Duration
	for range b.sized(execStarts, 1) {
		begin := time.Now()
		if err := start(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	return times[len(times)/2].Seconds() * 1e6, nil
}

func execSandboxed(command sandbox.Command) error {
	process, err := sandbox.Start(command)
	if err != nil {
		return err
	}
	exit, err := process.Wait()
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("%s ended with %+v", execProgram, exit)
	}
	return err
}

// execFlood measures how fast the server takes output that it does not keep.
func execFlood(b *bench) error {
	policy := sandbox.Policy{Allow: []string{execWriter}, Read: sandbox.DefaultRead()}
	program, err := sandbox.Open(execWriter, policy)
	if err != nil {
		return err
	}
	defer program.Close()
	args := []string{"-c", strconv.Itoa(b.sized(execOutput, 1)), "/dev/zero"}
	once := func(run func(io.Writer) error) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) {
			begin := time.Now()
			err := run(struct{ io.Writer }{io.Discard})
			return time.Since(begin).Seconds() * 1e6, err
		}
	}
	return b.takeTurns(execFloodCase, "time per 100 MB of output that is not kept",
		turnSubject{execBare, once(func(to io.Writer) error {
			cmd := exec.Command(execWriter, args...)
			cmd.Stdout = to
			return cmd.Run()
		})},
		turnSubject{string(sandbox.Full), once(func(to io.Writer) error {
			return execSandboxed(sandbox.Command{Program: program, Args: args, Stdout: to, Policy: policy})
		})})
}
