package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

const restoreExample = `  rota restore rota-2026-11-15.db                      # into ./rota-data
  rota restore rota-2026-11-15.db --data /var/lib/rota --force`

// restoreView is the answer, as JSON and YAML have it.
type restoreView struct {
	Store string `json:"store"`
	Jobs  int    `json:"jobs"`
	Aside string `json:"aside,omitempty"` // where the old store went
}

func newRestoreCommand(a *app) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Puts a backup into a data directory that no server holds",
		Long: `Copies a backup into the data directory as its store. The copy is checked first, and put in place only if it is
clean. A store that is there is replaced with --force only, and kept beside the new one. What ran when
the backup was made is found stale by the next server, and tried again as its policy says.`,
		Example: restoreExample,
		Args:    requireArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM) // so that no half copy stays
			defer stop()
			return a.restore(ctx, args[0], force)
		},
		ValidArgsFunction: completeFiles,
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace the store that is there, and keep it aside")
	return cmd
}

func (a *app) restore(ctx context.Context, file string, force bool) error {
	if err := checkStoreFile(file); err != nil {
		return err
	}
	dir := a.dataDir()
	target := filepath.Join(dir, "rota.db")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return usagef("name another directory with --data", "%s", openError(err))
	}
	release, err := lockDataDir(dir, target)
	if err != nil {
		return err
	}
	defer release()
	if err := checkReplace(target, force); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(dir, ".restore-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	copied := filepath.Join(scratch, "rota.db")
	if err := a.copyStore(ctx, file, copied); err != nil {
		return err
	}
	view := restoreView{Store: target}
	if view.Jobs, err = a.checkCopy(ctx, file, copied); err != nil {
		return err
	}
	if view.Aside, err = a.replace(ctx, copied, target); err != nil {
		return err
	}
	return a.print(view, func(w io.Writer) error { return writeRestore(w, file, view) })
}

func writeRestore(w io.Writer, file string, view restoreView) error {
	if view.Aside != "" {
		fmt.Fprintf(w, "the store that was there is now %s\n", view.Aside)
	}
	_, err := fmt.Fprintf(w, "restored %s from %s: clean, %s\n", view.Store, file, plural(view.Jobs, "job", "jobs"))
	return err
}

func checkReplace(target string, force bool) error {
	_, err := os.Lstat(target)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !force:
		return &exitError{
			code: exitFailed, err: fmt.Errorf("there is a store in %s already", target),
			hint: "replace it with --force, which keeps it aside, or name another directory with --data",
		}
	}
	return nil
}

// copyStore copies a database, and the log beside it if it has one: a file that was not closed cleanly is not whole
// without.
func (a *app) copyStore(ctx context.Context, from, to string) error {
	bar := a.newProgress()
	defer bar.clear()
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(ctx, from+suffix, to+suffix, bar); err != nil && (suffix == "" || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	return nil
}

func copyFile(ctx context.Context, from, to string, bar *progress) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(io.MultiWriter(file, &counter{total: info.Size(), bar: bar}), interruptible{ctx, source}); err != nil {
		return err
	}
	return file.Sync()
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Read reads unless the context has ended.
func (i interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, &exitError{code: exitFailed, err: errors.New("interrupted: nothing was changed")}
	}
	return i.r.Read(p)
}

// checkCopy checks every invariant of the copy. One that an older Rota wrote is brought up to date on the way.
func (a *app) checkCopy(ctx context.Context, file, copied string) (jobs int, err error) {
	store, err := sqlite.OpenWith(copied, sqlite.Config{ReadOnly: true})
	if rota.CodeOf(err) == rota.Conflict {
		store, err = sqlite.Open(copied)
	}
	if err != nil {
		var refusal *rota.Error
		if errors.As(err, &refusal) {
			refusal.Reason = strings.ReplaceAll(refusal.Reason, copied, file) // the name by which the reader knows it
		}
		return 0, storeError(file, err)
	}
	view, err := a.check(ctx, store)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return 0, err
	}
	if !view.Clean {
		_ = a.writeVerify(a.err, view)
		return 0, notClean(file, view)
	}
	return view.Checked.Jobs, nil
}
