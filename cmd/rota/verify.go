package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
)

const verifyExample = `  rota verify                                           # check the store of the running server
  rota verify --store sqlite:rota-data/rota.db
  rota verify --store sqlite:backup.db --output json    # exit 0 if clean, 3 if not
  rota verify --list                                    # list the checks`

// verifyOptions holds the flags.
type verifyOptions struct {
	store string
	list  bool
}

// verifyView is the output as JSON and YAML.
type verifyView struct {
	Clean      bool            `json:"clean"`
	Checked    verifyCount     `json:"checked"`
	Violations []api.Violation `json:"violations"`
}

type verifyCount struct {
	Jobs  int `json:"jobs"`
	Runs  int `json:"runs"`
	Keys  int `json:"keys"`
	Audit int `json:"audit"`
}

type checkView struct {
	Check   string `json:"check"`
	Promise string `json:"promise"`
}

func newVerifyCommand(a *app) *cobra.Command {
	var opts verifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check every invariant of a store",
		Long: `Check every invariant of a store and list each row that violates one. The command exits with 0 if the store is clean
and with 3 if it is not. Without --store a running server checks its own store and keeps running.

With --store the command checks an SQLite store that no process uses, or a store on PostgreSQL or DynamoDB, whose servers
may run. Of a DynamoDB table it fills a replica in the temporary directory, and checks that. It changes no row, but
SQLite writes a write-ahead log that a crash left into the file. To keep the evidence, copy the file with its -wal and
-shm files first.`,
		Example: verifyExample,
		Args:    verifyArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.list {
				return a.listChecks()
			}
			return a.verify(cmd.Context(), opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.store, "store", "", "`URL` of the store, such as sqlite:rota-data/rota.db, postgres://… or dynamodb://…")
	flags.BoolVar(&opts.list, "list", false, "list the checks and their invariants")
	return cmd
}

func (a *app) verify(ctx context.Context, opts verifyOptions) error {
	if opts.store == "" {
		return a.verifyServer(ctx)
	}
	store, path, err := openReadOnly(ctx, opts.store)
	if err != nil {
		return err
	}
	defer store.Close()
	view, err := a.check(ctx, store)
	if err != nil {
		return err
	}
	if err := a.print(view, func(w io.Writer) { a.writeVerify(w, view) }); err != nil || view.Clean {
		return err
	}
	return notClean(path, view)
}

// verifier is a store that reports the progress of its check.
type verifier interface {
	VerifyProgress(ctx context.Context, report func(rota.Checked)) iter.Seq2[rota.Violation, error]
	VerifyAudit(ctx context.Context, trust rota.AuditTrust) (rota.AuditReport, error)
	Close() error
}

// openReadOnly opens a store for reading and returns its name for messages.
func openReadOnly(ctx context.Context, url string) (verifier, string, error) {
	switch {
	case isPostgres(url):
		store, err := postgres.OpenWith(url, postgres.Config{ReadOnly: true, Poll: true})
		return store, "the store", err // the URL may contain a password
	case isDynamo(url):
		store, err := opened[verifier](openDynamo(ctx, url))
		return store, "the store", err
	}
	path, err := storePath(url, "write --store sqlite:PATH, --store postgres://HOST/DATABASE or --store dynamodb://TABLE")
	if err != nil {
		return nil, "", err
	}
	if err := checkStoreFile(path); err != nil {
		return nil, "", err
	}
	store, err := sqlite.OpenWith(path, sqlite.Config{ReadOnly: true})
	if err != nil {
		return nil, "", storeError(path, err)
	}
	return store, path, nil
}

// check checks every row of a store and shows the progress.
func (a *app) check(ctx context.Context, store verifier) (verifyView, error) {
	view := verifyView{Violations: []api.Violation{}}
	progress := a.newProgress()
	defer progress.clear()
	for v, err := range store.VerifyProgress(ctx, func(c rota.Checked) {
		view.Checked = verifyCount(c)
		progress.show("checked %d jobs", c.Jobs)
	}) {
		if err != nil {
			return view, err
		}
		view.Violations = append(view.Violations, api.Violation(v))
	}
	view.Clean = len(view.Violations) == 0
	return view, nil
}

func notClean(path string, view verifyView) error {
	return failf(exitNotClean, "keep a copy of the file; rota verify --list describes each check",
		"%s is not clean: %s", path, plural(len(view.Violations), "violation", "violations"))
}

// verifyServer requests that a running server checks its store.
func (a *app) verifyServer(ctx context.Context) error {
	progress := a.newProgress()
	progress.show("the server is checking its store")
	found, answer, err := fetch[api.Verification](ctx, a, newGet("/verify"))
	progress.clear()
	if err != nil {
		return err
	}
	if err := a.print(answer, func(w io.Writer) { a.writeVerification(w, found) }); err != nil || found.Clean {
		return err
	}
	return failf(exitNotClean, "create a backup for the investigation; rota verify --list describes each check",
		"the server's store is not clean: %s", plural(len(found.Violations), "violation", "violations"))
}

func (a *app) writeVerification(w io.Writer, found api.Verification) {
	if found.Clean {
		fmt.Fprintln(w, "clean: the server's store violates no invariant")
	}
	a.writeViolations(w, found.Violations)
	if found.More {
		fmt.Fprintln(w, "there are more violations")
	}
}

func (a *app) writeViolations(w io.Writer, violations []api.Violation) {
	if len(violations) == 0 {
		return
	}
	t := newTable("CHECK", "~ROWS", "~DETAIL")
	for _, v := range violations {
		t.add(v.Check, strings.Join(v.Rows, ", "), v.Detail)
	}
	a.printTable(w, t)
}

// storePath returns the file of a sqlite: URL.
func storePath(url, hint string) (string, error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	switch {
	case !isFile:
		return "", usagef(hint, "--store %s is not the URL of a store", url)
	case path == "":
		return "", usagef(hint, "--store sqlite: has no file name")
	}
	return path, nil
}

func (a *app) writeVerify(w io.Writer, view verifyView) {
	a.writeViolations(w, view.Violations)
	word := "clean"
	if !view.Clean {
		word = "\nnot clean"
	}
	c := view.Checked
	fmt.Fprintf(w, "%s: checked %s, %s, %s and %s\n", word, plural(c.Jobs, "job", "jobs"),
		plural(c.Runs, "run", "runs"), plural(c.Keys, "unique key", "unique keys"), plural(c.Audit, "audit entry", "audit entries"))
}

func (a *app) listChecks() error {
	var views []checkView
	t := newTable("CHECK", "~PROMISE")
	for _, c := range rota.Checks {
		views = append(views, checkView{c.Name, c.Promise})
		t.add(c.Name, c.Promise)
	}
	return a.print(views, func(w io.Writer) { a.printTable(w, t) })
}

// verifyArgs refuses arguments, with a hint for a user who gives the file as an argument.
func verifyArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("write rota verify --store sqlite:"+shortened(args[0]), "verify takes no argument; name the store with --store")
}
