package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/node"
	"github.com/rotajobs/rota/worker"
)

// workerOptions holds the flags of rota worker.
type workerOptions struct {
	types, config, name string
	slots               int
}

func newWorkerCommand(a *app) *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use: "worker --config FILE", Short: "Run programs of exec jobs for a server on another machine", Args: noArgs(),
		Long: `Claim jobs of the type exec from a server and run their programs on this machine, in the same sandbox. The worker needs no
store and no data directory. FILE has the section exec; other settings in it have no effect, except cancel_grace,
shutdown_grace and log_*.

With exec: {remote: true} in its own configuration the server leaves all exec jobs to workers. Otherwise both take them.
The token has the scope worker and the type exec. The server checks EXECUTE EXTERNAL JOB before it gives a job away.
SIGTERM lets running programs finish within the grace period.`,
		Example: `  rota worker --url https://rota.example.org:7420 --types exec --config rota.yaml
  rota token create --user runner --scope worker --type exec      # on the server, as an administrator`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runWorker(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.types, "types", typeExec, "`TYPE` of the jobs; only exec is possible")
	cmd.Flags().StringVar(&o.config, "config", "", "`FILE` with the section exec (default: "+node.DefaultFile+" if it exists)")
	cmd.Flags().StringVar(&o.name, "name", "", "`NAME` of this worker (default: the name of the machine and a random suffix)")
	cmd.Flags().IntVar(&o.slots, "workers", engine.DefaultWorkers, "number of programs that run at the same time")
	return cmd
}

func (a *app) runWorker(ctx context.Context, o workerOptions) error {
	if o.types != typeExec {
		return usagef("write --types exec; for other types write a worker (docs/workers.md)", "this program has no handler for the types %s", shortened(o.types))
	}
	config, err := node.Load(o.config, a.getenv)
	if err != nil {
		return err
	}
	if config.Exec == nil {
		return usagef("add the section exec to it (rota exec setup --from-crontab FILE proposes one)", "the configuration has no section exec")
	}
	logger := config.NewLogger(a.err)
	address, err := a.address()
	if err != nil {
		return err
	}
	encryption, err := a.tlsConfig()
	if err != nil {
		return err
	}
	commands, err := config.OpenCommands(logger)
	if err != nil {
		return err
	}
	reg := engine.NewRegistry()
	action.RegisterExec(reg, commands, nil)
	token, _ := a.authToken()
	w := worker.New(address, token, reg, worker.Config{
		Name: o.name, Workers: o.slots, Logger: logger, TLS: encryption, CancelGrace: config.CancelGrace, ShutdownGrace: config.ShutdownGrace,
	})
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		select {
		case <-w.Ready():
			_ = a.print(map[string]string{"worker": w.Name(), "url": address}, func(out io.Writer) {
				fmt.Fprintf(out, "Worker %s is ready, for %s.\n", w.Name(), address)
			})
		case <-ctx.Done():
		}
	}()
	if err := w.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
