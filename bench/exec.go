package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/rotajobs/rota/action/sandbox"
	"golang.org/x/sys/unix"
)

// The cost of a sandboxed program: /bin/true in isolation, and started by fork and exec.
const (
	execCase      = "exec/true"
	execLargeCase = "exec/true/large"

	execMost    = 12 // times the cost of fork and exec
	execStarts  = 20 // in a turn
	execMemory  = 256 << 20
	execProgram = "/bin/true"
	execBare    = "fork and exec"
)

func execBenchmarks() []benchmark {
	most := func(name string) []bar {
		return []bar{{caseName: name, subject: string(sandbox.Full), against: execBare, most: execMost}}
	}
	return []benchmark{
		{cases: []string{execCase}, bars: most(execCase), run: func(b *bench) error { return execTurns(b, execCase) }},
		{cases: []string{execLargeCase}, bars: most(execLargeCase), run: execLarge},
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
