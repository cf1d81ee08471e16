package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
)

const verifyExample = `  rota verify                                           # the store of the running server
  rota verify --store sqlite:rota-data/rota.db
  rota verify --store sqlite:backup.db --output json    # for scripts: exit 0 clean, 3 violated
  rota verify --list                                    # what is checked`

// verifyOptions are the flags of one call.
type verifyOptions struct {
	store string
	list  bool
}

// verifyView is the answer, as JSON and YAML have it.
type verifyView struct {
	Clean      bool            `json:"clean"`
	Checked    verifyCount     `json:"checked"`
	Violations []violationView `json:"violations"`
}

type verifyCount struct {
	Jobs  int `json:"jobs"`
	Runs  int `json:"runs"`
	Keys  int `json:"keys"`
	Audit int `json:"audit"`
}

type violationView struct {
	Check  string   `json:"check"`
	Rows   []string `json:"rows"`
	Detail string   `json:"detail"`
}

type checkView struct {
	Check   string `json:"check"`
	Promise string `json:"promise"`
}

func newVerifyCommand(a *app) *cobra.Command {
	var opts verifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Checks that a store keeps every promise",
		Long: `Checks every invariant of a store and names each row that breaks one. Exits with 0 if it is clean and with 3 if
it is not. Without --store a running server checks its own, while it goes on.

With --store it is one that no process holds, or one on PostgreSQL. No row is changed, but a log that a crash left is folded
into the file: for evidence, copy the file with its -wal and -shm first.`,
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
	flags.StringVar(&opts.store, "store", "", "`URL` of the store, such as sqlite:rota-data/rota.db or postgres://…")
	flags.BoolVar(&opts.list, "list", false, "list the checks and what each promises")
	return cmd
}

func (a *app) verify(ctx context.Context, opts verifyOptions) error {
	if opts.store == "" {
		return a.verifyServer(ctx)
	}
	store, path, err := openReadOnly(opts.store)
	if err != nil {
		return err
	}
	defer store.Close()
	view, err := a.check(ctx, store)
	if err != nil {
		return err
	}
	if err := a.print(view, func(w io.Writer) error { return a.writeVerify(w, view) }); err != nil || view.Clean {
		return err
	}
	return notClean(path, view)
}

// verifier is a store that tells how far it has been looked at.
type verifier interface {
	VerifyProgress(ctx context.Context, report func(rota.Checked)) iter.Seq2[rota.Violation, error]
	Close() error
}

// openReadOnly opens a store that is only looked at, and says what to call it.
func openReadOnly(url string) (verifier, string, error) {
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		store, err := postgres.OpenWith(url, postgres.Config{ReadOnly: true, Poll: true})
		return store, "the store", err // its URL may hold a password
	}
	path, err := storePath(url)
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

// check looks at every row of a store and tells how far it is.
func (a *app) check(ctx context.Context, store verifier) (verifyView, error) {
	view := verifyView{Violations: []violationView{}}
	progress := a.newProgress()
	defer progress.clear()
	for v, err := range store.VerifyProgress(ctx, func(c rota.Checked) {
		view.Checked = verifyCount(c)
		progress.show("checked %d jobs", c.Jobs)
	}) {
		if err != nil {
			return view, err
		}
		view.Violations = append(view.Violations, violationView(v))
	}
	view.Clean = len(view.Violations) == 0
	return view, nil
}

func notClean(path string, view verifyView) error {
	return &exitError{
		code: exitNotClean, err: fmt.Errorf("%s is not clean: %s", path, plural(len(view.Violations), "violation", "violations")),
		hint: "keep a copy of the file; rota verify --list says what each check promises",
	}
}

// verifyServer asks a running server to check its store.
func (a *app) verifyServer(ctx context.Context) error {
	progress := a.newProgress()
	progress.show("the server is checking its store")
	answer, err := a.get(ctx, "/verify", nil)
	progress.clear()
	if err != nil {
		return err
	}
	found, err := decode[httpapi.Verification](answer)
	if err != nil {
		return err
	}
	if err := a.print(answer, func(w io.Writer) error { return a.writeVerification(w, found) }); err != nil || found.Clean {
		return err
	}
	return &exitError{
		code: exitNotClean, err: fmt.Errorf("the server's store is not clean: %s", plural(len(found.Violations), "violation", "violations")),
		hint: "make a backup for a closer look; rota verify --list says what each check promises",
	}
}

func (a *app) writeVerification(w io.Writer, found httpapi.Verification) error {
	if found.Clean {
		_, err := fmt.Fprintln(w, "clean: the server's store keeps every promise")
		return err
	}
	t := newTable("CHECK", "~ROWS", "~DETAIL")
	for _, v := range found.Violations {
		t.add(v.Check, strings.Join(v.Rows, ", "), v.Detail)
	}
	if err := a.printTable(w, t); err != nil || !found.More {
		return err
	}
	_, err := fmt.Fprintln(w, "and more")
	return err
}

// storePath is the file that the URL of a store names.
func storePath(url string) (string, error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	switch {
	case !isFile:
		return "", usagef("write --store sqlite:PATH", "--store %s is not a store that verify can open", url)
	case path == "":
		return "", usagef("write --store sqlite:PATH", "--store sqlite: names no file")
	}
	return path, nil
}

func (a *app) writeVerify(w io.Writer, view verifyView) error {
	t := newTable("CHECK", "~ROWS", "~DETAIL")
	for _, v := range view.Violations {
		t.add(v.Check, strings.Join(v.Rows, ", "), v.Detail)
	}
	if len(t.rows) > 0 {
		if err := a.printTable(w, t); err != nil {
			return err
		}
	}
	word := "clean"
	if !view.Clean {
		word = "\nnot clean"
	}
	c := view.Checked
	_, err := fmt.Fprintf(w, "%s: checked %s, %s, %s and %s\n", word, plural(c.Jobs, "job", "jobs"),
		plural(c.Runs, "run", "runs"), plural(c.Keys, "unique key", "unique keys"), plural(c.Audit, "audit entry", "audit entries"))
	return err
}

func (a *app) listChecks() error {
	var views []checkView
	t := newTable("CHECK", "~PROMISE")
	for _, c := range rota.Checks {
		views = append(views, checkView{c.Name, c.Promise})
		t.add(c.Name, c.Promise)
	}
	return a.print(views, func(w io.Writer) error { return a.printTable(w, t) })
}

// verifyArgs sees through the natural first guess: the file as an argument.
func verifyArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("write rota verify --store sqlite:"+shortened(args[0]), "verify takes no argument; the store is named by --store")
}
