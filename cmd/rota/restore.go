package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/transfer"
)

const restoreExample = `  rota restore rota-2026-11-15.db                      # into ./rota-data
  rota restore rota-2026-11-15.db --data /var/lib/rota --force
  rota restore rota-2026-11-15.db --store postgres://rota@db/rota # into an empty store on PostgreSQL`

// restoreView is the output as JSON and YAML.
type restoreView struct {
	Store string `json:"store"`
	Jobs  int    `json:"jobs"`
	Aside string `json:"aside,omitempty"` // path of the previous store

	UsableTokens int    `json:"usable_tokens,omitempty"` // tokens that are neither revoked nor expired in the backup
	OtherHead    string `json:"other_head,omitempty"`    // path of an audit.head that does not fit the restored audit

	NeededKeys  []string `json:"needed_keys,omitempty"`  // fingerprints of the keys that open the secrets of the backup
	MissingKeys []string `json:"missing_keys,omitempty"` // those of them that master.key of the data directory lacks

	AsideFiles []string         `json:"aside_files,omitempty"` // paths of the previous databases of targets
	Restored   []sqlite.Content `json:"restored"`
	LeftOut    []sqlite.LeftOut `json:"left_out"`
}

// restoreOptions holds the flags.
type restoreOptions struct {
	store          string
	force, restart bool
}

func newRestoreCommand(a *app) *cobra.Command {
	var opts restoreOptions
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a backup into a data directory that no server uses",
		Long: `Copy a backup into the data directory as its store. The command checks the copy and uses it only if it is clean.
It replaces an existing store only with --force, and keeps the previous one beside it. The next server finds
jobs that ran at the time of the backup stale and retries them by their policy.

Run logs and SQLite targets of the backup are written into the data directory too. Logs that exist stay; a target that exists and
differs is replaced only with --force, and the previous one is kept beside it. The output lists what the backup leaves out.

With --store the rows are copied into an empty store, such as one on PostgreSQL, as rota copy does.

Until everything is in place, no server starts with the restored store. The same command again completes a restore that was
interrupted.`,
		Example: restoreExample,
		Args:    requireArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return untilSignal(cmd, func(ctx context.Context) error { return a.restore(ctx, args[0], opts) }) // a signal must not leave a partial copy
		},
		ValidArgsFunction: completeFiles,
	}
	cmd.Flags().BoolVar(&opts.force, "force", false, "replace an existing store, and keep it beside the new one")
	cmd.Flags().BoolVar(&opts.restart, "restart", false, "with --store: discard what an interrupted copy or restore has written into the store, and begin again")
	cmd.Flags().StringVar(&opts.store, "store", "", "`URL` of an empty store to restore into (default: rota.db in the data directory)")
	return cmd
}

func (a *app) restore(ctx context.Context, file string, opts restoreOptions) error {
	if opts.restart && opts.store == "" {
		return usagef("leave it out: without --store, each restore begins again", "--restart needs --store")
	}
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
	if opts.store == "" {
		if err := checkReplace(target, file, opts.force); err != nil {
			return err
		}
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
	view := restoreView{Store: target, Restored: []sqlite.Content{}, LeftOut: []sqlite.LeftOut{}}
	if view.Jobs, err = a.checkCopy(ctx, file, copied); err != nil {
		return err
	}
	if err := a.readAccess(ctx, filepath.Join(dir, "audit.head"), copied, &view); err != nil {
		return err
	}
	files := attachedFiles{scratch: filepath.Join(scratch, "files"), dir: dir}
	if err := files.detach(ctx, copied, &view); err != nil {
		return err
	}
	if err := files.checkTargets(opts.force); err != nil {
		return err
	}
	publish := func(ctx context.Context) error { return files.publish(ctx, a, &view) }
	if opts.store != "" {
		view.Store, err = a.restoreInto(ctx, file, copied, opts, publish)
	} else {
		view.Aside, err = a.restoreHere(ctx, file, copied, target, publish)
	}
	if err != nil {
		return err
	}
	return a.print(view, func(w io.Writer) { writeRestore(w, file, view) })
}

// backupName names a backup in marks. A restore that is repeated recognises by it what it has written.
func backupName(file string) string { return "backup:" + absolute(file) }

// restoreHere puts the store of a backup into the data directory, and then its files. Until the files are there, the
// store has a mark with which no server starts.
func (a *app) restoreHere(ctx context.Context, file, copied, target string, publish func(context.Context) error) (aside string, err error) {
	if err := sqlite.MarkUnfinished(copied, backupName(file), a.now()); err != nil {
		return "", err
	}
	repeated := sqlite.UnfinishedFrom(target) == backupName(file)
	if aside, err = a.replace(ctx, copied, target); err != nil {
		return "", err
	}
	if repeated && aside != "" { // what the interrupted restore has written
		err, aside = os.Remove(aside), ""
	}
	if err == nil {
		err = publish(ctx)
	}
	if err != nil {
		return "", failf(exitFailed, "remove the cause, then run the same command again: until then no server starts with "+target, "%w", err)
	}
	return aside, sqlite.MarkFinished(target)
}

// restoreInto copies the rows of a backup into an empty store, and then puts its files into the data directory.
func (a *app) restoreInto(ctx context.Context, file, copied string, opts restoreOptions, publish func(context.Context) error) (name string, err error) {
	from, err := sqlite.OpenTransferSource(copied, sqlite.TransferConfig{Name: backupName(file), Keep: true})
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := openCopyTarget(ctx, opts.store, "--store", false)
	if err != nil {
		return "", err
	}
	defer to.Close()
	_, err = a.transfer(ctx, from, to, transfer.Options{History: true, Keep: true, Restart: opts.restart, Also: publish})
	return to.Name(), err
}

func writeRestore(w io.Writer, file string, view restoreView) {
	if view.Aside != "" {
		fmt.Fprintf(w, "the previous store is now %s\n", view.Aside)
	}
	for _, aside := range view.AsideFiles {
		fmt.Fprintf(w, "the previous target is now %s\n", aside)
	}
	fmt.Fprintf(w, "restored %s from %s: clean, %s\n", view.Store, file, plural(view.Jobs, "job", "jobs"))
	writeContents(w, "restored", view.Restored, view.LeftOut)
	if view.UsableTokens > 0 {
		fmt.Fprintf(w, "%s valid, as at the time of the backup: revoke again what was revoked since; rota token list shows them\n",
			plural(view.UsableTokens, "token is", "tokens are"))
	}
	writeKeys(w, view)
	if view.OtherHead != "" {
		fmt.Fprintf(w, "move %s away before the server starts: it is signed for an audit that the backup does not have\n", view.OtherHead)
	}
}

// checkReplace refuses to replace a store without force, unless an interrupted restore of the same backup wrote it.
func checkReplace(target, file string, force bool) error {
	_, err := os.Lstat(target)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !force && sqlite.UnfinishedFrom(target) != backupName(file):
		return failf(exitFailed, "replace it with --force, which keeps the previous store, or name another directory with --data", "the store %s already exists", target)
	}
	return nil
}

// copyStore copies a database and its write-ahead log, if it has one: a database that was not closed cleanly is
// incomplete without the log.
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

// interruptible is a reader that fails when its context ends.
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

// checkCopy checks every invariant of the copy. It migrates a store of an older version first.
func (a *app) checkCopy(ctx context.Context, file, copied string) (jobs int, err error) {
	store, err := sqlite.OpenWith(copied, sqlite.Config{ReadOnly: true})
	if rota.CodeOf(err) == rota.Conflict {
		store, err = sqlite.Open(copied)
	}
	if err != nil {
		var refusal *rota.Error
		if errors.As(err, &refusal) {
			refusal.Reason = strings.ReplaceAll(refusal.Reason, copied, file) // the name that the user typed
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
		a.writeVerify(a.err, view)
		return 0, notClean(file, view)
	}
	return view.Checked.Jobs, nil
}

// checkStoreFile refuses a file that is not an SQLite database, by its first bytes.
func checkStoreFile(path string) error {
	if err := checkRegularFile(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return usagef("check its permissions", "%s", openError(err))
	}
	defer file.Close()
	head := make([]byte, len(sqliteMagic))
	if _, err := io.ReadFull(file, head); err != nil || !bytes.Equal(head, sqliteMagic) {
		return notStoreError(path)
	}
	return nil
}

// sqliteMagic is the header of every SQLite database.
var sqliteMagic = []byte("SQLite format 3\x00")

func checkRegularFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return failf(exitNotFound, "check the path", "there is no file %s", path)
	case err != nil:
		return usagef("check the path", "%s", openError(err))
	case !info.Mode().IsRegular():
		return usagef("name the file of a store or a backup", "%s is not a file", path)
	}
	return nil
}

func notStoreError(path string) error {
	return failf(exitNotFound, "name the file of a store or a backup", "%s is not a Rota store", path)
}

// storeError converts the error of opening a database: one without the tables of Rota is not a store.
func storeError(path string, err error) error {
	if rota.CodeOf(err) == rota.NotFound {
		return notStoreError(path)
	}
	return err
}
