package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/api"
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
		Example: `  rota user create runner --no-password                           # on the server, as an administrator
  rota token create --user runner --scope worker --type exec      # there, too; set ROTA_TOKEN on this machine
  rota worker --url https://rota.example.org:7420 --types exec --config rota.yaml`,
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
	if len(config.Exec.Roles) > 0 {
		return usagef("move the rules to profiles: {jobs: …} or to the section itself, or let the server of these users run the programs",
			"exec.profiles.roles (%s) has no effect on a worker: it does not know the users and roles of jobs", strings.Join(slices.Sorted(maps.Keys(config.Exec.Roles)), ", "))
	}
	if config.Exec.Remote {
		return usagef("remove it; it belongs into the configuration of the server", "exec.remote leaves programs to workers, and this is one")
	}
	logger := config.NewLogger(a.err)
	if err := withholdMemory(); err != nil {
		logger.Warn("a core dump of this process may contain secrets: it could not be prevented", "error", err)
	}
	address, err := a.address()
	if err != nil {
		return err
	}
	encryption, err := a.tlsConfig()
	if err != nil {
		return err
	}
	token, _ := a.authToken()
	if token == "" && a.tlsFiles().Cert == "" {
		return usagef("create one on the server, and set ROTA_TOKEN here: rota user create runner --no-password && "+
			"rota token create --user runner --scope worker --type exec", "the worker has no token")
	}
	config.Exec.Owner = strings.TrimSpace("the worker " + o.name)
	commands, err := config.OpenCommands(logger, a.credentialFiles()...)
	if err != nil {
		return err
	}
	reg := engine.NewRegistry()
	action.RegisterExec(reg, commands, nil)
	w := worker.New(address, token, reg, worker.Config{
		Name: o.name, Workers: o.slots, Logger: logger, TLS: encryption, CancelGrace: config.CancelGrace, ShutdownGrace: config.ShutdownGrace,
		Lease: workerLease(config.CancelGrace),
	})
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	go a.printWorkerReady(ctx, w, address)
	if err := w.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return withCommandHint(err)
	}
	return nil
}

// credentialFiles are the files that this process proves its identity with. Programs of jobs must not read them.
func (a *app) credentialFiles() (files []string) {
	if key := a.tlsFiles().Key; key != "" {
		files = append(files, key)
	}
	return append(files, a.tokenFile())
}

// printWorkerReady prints that a worker is ready once its token may claim jobs. Otherwise the worker ends with the reason, which the
// server states at its first claim.
func (a *app) printWorkerReady(ctx context.Context, w *worker.Worker, address string) {
	select {
	case <-w.Ready():
	case <-ctx.Done():
		return
	}
	me, _, err := fetch[api.Me](ctx, a, newGet("/me"))
	for exit := (*exitError)(nil); err != nil; me, _, err = fetch[api.Me](ctx, a, newGet("/me")) {
		if errors.As(err, &exit) && exit.code == exitDenied || ctx.Err() != nil {
			return
		}
		time.Sleep(time.Second) // the server restarts
	}
	if !mayClaimExec(me) {
		return
	}
	_ = a.print(map[string]string{"worker": w.Name(), "url": address}, func(out io.Writer) {
		fmt.Fprintf(out, "Worker %s is ready, for %s.\n", w.Name(), address)
	})
}

// mayClaimExec reports whether the server gives exec jobs to the sender of a request.
func mayClaimExec(me api.Me) bool {
	t := me.Token
	switch {
	case t == nil:
		return me.Admin
	case t.Scope == string(rota.ScopeWorker):
		return t.Type == "" || t.Type == typeExec
	}
	return me.Admin && t.Scope != string(rota.ScopeRead)
}

// withCommandHint replaces the remedy for Go programs in an error by that of the command.
func withCommandHint(err error) error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return err
	}
	for fault, hint := range faultHints {
		if e.Hint != "" && e.Hint == fault.ProgramHint() {
			changed := *e
			changed.Hint = hint
			return &changed
		}
	}
	return err
}

// workerLease is the lease of a worker of programs. The worker uses the last third of it to stop the programs if it cannot reach the
// server: a program that ignores SIGTERM is killed before another worker runs the retry.
func workerLease(cancelGrace time.Duration) time.Duration {
	return min(max(rota.DefaultLease, 3*cmp.Or(cancelGrace, engine.DefaultCancelGrace)), rota.LeaseMax)
}
