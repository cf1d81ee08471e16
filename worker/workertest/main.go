//go:build unix

package workertest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rotajobs/rota/node"
)

// envProgram names the program that a process runs.
const envProgram = "ROTA_WORKERTEST_PROGRAM"

// programServer is a server like rota serve.
const programServer = "server"

// Main is the TestMain of a package whose tests start processes: those of the server, and of
// the programs of the package. A process ends with the tests that started it, however they
// end.
func Main(m *testing.M, programs map[string]func(context.Context) error) {
	name := os.Getenv(envProgram)
	if name == "" {
		flag.Parse()
		if err := flag.Set("test.parallel", "8"); err != nil { // the tests mostly wait
			panic(err)
		}
		os.Exit(m.Run())
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	run := programs[name]
	if name == programServer {
		run = serve
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// serve is a server with the settings ROTA_… of its environment. It prints its address.
func serve(ctx context.Context) error {
	config, err := node.Load("", os.Getenv)
	if err != nil {
		return err
	}
	config.Logger = config.NewLogger(os.Stderr)
	n, err := node.Open(ctx, config)
	if err != nil {
		return err
	}
	go func() {
		<-n.Ready()
		fmt.Println("ready", n.Addresses()["http"])
	}()
	return n.Run(ctx)
}
