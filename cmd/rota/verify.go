package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

const verifyExample = `  rota verify --store sqlite:rota-data/rota.db
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
		Long: `Checks every invariant of a store and names each row that breaks one. It changes no row, but a log that a
crash left is folded into the file: for evidence, copy the file with its -wal and -shm first. The store
must be one that no process holds. Exits with 0 if it is clean and with 3 if it is not.`,
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
	flags.StringVar(&opts.store, "store", "", "`URL` of the store, such as sqlite:rota-data/rota.db")
	flags.BoolVar(&opts.list, "list", false, "list the checks and what each promises")
	return cmd
}

func (a *app) verify(ctx context.Context, opts verifyOptions) error {
	path, err := storePath(opts.store)
	if err != nil {
		return err
	}
	store, err := sqlite.OpenWith(path, sqlite.Config{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	view := verifyView{Violations: []violationView{}}
	progress := newProgress(a.err)
	for v, err := range store.VerifyAloud(ctx, func(c sqlite.Checked) {
		view.Checked = verifyCount(c)
		progress.show("checked %d jobs", c.Jobs)
	}) {
		if err != nil {
			progress.clear()
			return err
		}
		view.Violations = append(view.Violations, violationView(v))
	}
	progress.clear()
	view.Clean = len(view.Violations) == 0
	if err := a.print(view, func(w io.Writer) error { return writeVerify(w, view) }); err != nil || view.Clean {
		return err
	}
	return &exitError{
		code: exitNotClean, err: fmt.Errorf("%s is not clean: %s", path, plural(len(view.Violations), "violation", "violations")),
		hint: "keep a copy of the file; rota verify --list says what each check promises",
	}
}

// storePath is the file that the URL of a store names.
func storePath(url string) (string, error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	switch {
	case url == "":
		return "", usagef("name one, such as rota verify --store sqlite:rota-data/rota.db", "verify needs --store")
	case !isFile:
		return "", usagef("write --store sqlite:PATH", "--store %s is not a store that verify can open", url)
	case path == "":
		return "", usagef("write --store sqlite:PATH", "--store sqlite: names no file")
	}
	return path, nil
}

func writeVerify(w io.Writer, view verifyView) error {
	var rows [][]string
	for _, v := range view.Violations {
		rows = append(rows, []string{v.Check, strings.Join(v.Rows, ", "), v.Detail})
	}
	if len(rows) > 0 {
		if err := writeTable(w, []string{"CHECK", "ROWS", "DETAIL"}, rows); err != nil {
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
	var rows [][]string
	for _, c := range rota.Checks {
		views = append(views, checkView{c.Name, c.Promise})
		rows = append(rows, []string{c.Name, c.Promise})
	}
	return a.print(views, func(w io.Writer) error { return writeTable(w, []string{"CHECK", "PROMISE"}, rows) })
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// progress is one line that is written over and over, for a person who waits at a terminal. A pipe gets nothing.
type progress struct{ w io.Writer }

func newProgress(w io.Writer) progress {
	file, isFile := w.(*os.File)
	if !isFile {
		return progress{io.Discard}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return progress{io.Discard}
	}
	return progress{w}
}

func (p progress) show(format string, args ...any) { fmt.Fprintf(p.w, "\r\x1b[K"+format, args...) }
func (p progress) clear()                          { fmt.Fprint(p.w, "\r\x1b[K") }

// verifyArgs sees through the natural first guess: the file as an argument.
func verifyArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("write rota verify --store sqlite:"+shortened(args[0]), "verify takes no argument; the store is named by --store")
}
