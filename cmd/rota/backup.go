package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/rotajobs/rota/store/sqlite"
)

const backupExample = `  rota backup rota-2026-11-15.db
  rota backup /mnt/backups/rota.db --force                  # replace an older backup
  rota backup rota.db && rota verify --store sqlite:rota.db # create a backup and check it`

// backupView is the output as JSON and YAML.
type backupView struct {
	File     string           `json:"file"`
	Bytes    int64            `json:"bytes"`
	Included []sqlite.Content `json:"included"`
	LeftOut  []sqlite.LeftOut `json:"left_out"`
}

func newBackupCommand(a *app) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a consistent copy of a running server's store",
		Long: `Write a copy of the store at one point in time while the server keeps running. FILE appears only when the copy is
complete and on disk; an interrupted backup leaves no file. The copy contains the run logs and the SQLite targets in the data
directory, such as main.db; the output lists what it leaves out, such as the run logs of a store on DynamoDB. rota restore
restores it. A store on PostgreSQL has the backups of its database; rota copy moves it into a file.`,
		Example: backupExample,
		Args:    requireArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return untilSignal(cmd, func(ctx context.Context) error { return a.backup(ctx, args[0], force) }) // a signal must not leave a partial file
		},
		ValidArgsFunction: completeFiles,
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return cmd
}

// completeFiles lets the shell complete a file name as the first argument.
func completeFiles(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

func (a *app) backup(ctx context.Context, path string, force bool) error {
	if err := checkTarget(path, force); err != nil {
		return err
	}
	response, err := a.open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/backup", Accept: "application/vnd.sqlite3"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	size, err := writeAtomically(path, force, func(file *os.File) error { return a.download(file, response) })
	if err != nil {
		return err
	}
	contents, err := sqlite.ReadContents(path)
	if err != nil {
		return err
	}
	view := backupView{File: path, Bytes: size, Included: []sqlite.Content{}, LeftOut: []sqlite.LeftOut{}}
	if contents != nil {
		view.Included, view.LeftOut = append(view.Included, contents.Included...), append(view.LeftOut, contents.LeftOut...)
	}
	return a.print(view, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s, %s\n", sanitize(path), byteSize(size))
		writeContents(w, "included", view.Included, view.LeftOut)
	})
}

// writeContents lists what a backup contains besides the store, and what it leaves out.
func writeContents(w io.Writer, word string, included []sqlite.Content, leftOut []sqlite.LeftOut) {
	for _, c := range included {
		fmt.Fprintf(w, "%s: %s, %s, %s\n", word, sanitize(c.What), plural(c.Files, "file", "files"), byteSize(c.Bytes))
	}
	for _, l := range leftOut {
		fmt.Fprintf(w, "left out: %s: %s\n", sanitize(l.What), sanitize(l.Why))
	}
}

// checkTarget checks before the download that the file can be written.
func checkTarget(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return checkParentDir(path)
	case err != nil:
		return usagef("check the path", "%s", openError(err))
	case info.IsDir():
		return usagef("name a file in it", "%s is a directory", path)
	case !force:
		return failf(exitFailed, "name another file, or replace it with --force", "%s already exists", path)
	}
	return nil
}

// checkParentDir refuses a path whose directory does not exist.
func checkParentDir(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return usagef("create it, or name a file in another directory", "there is no directory %s", dir)
	}
	return nil
}

// writeAtomically writes a file that appears under its name only when it is complete and on disk.
func writeAtomically(path string, force bool, write func(*os.File) error) (size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part")
	if err != nil {
		return 0, usagef("check that the directory exists and is writable", "%s", openError(err))
	}
	defer os.Remove(file.Name()) // does nothing after success
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if info, statErr := file.Stat(); statErr == nil {
		size = info.Size()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return 0, err
	}
	return size, publishFile(file.Name(), path, force)
}

// publishFile gives a temporary file its final name. Without force it uses a hard link, which never replaces a file
// that another process created meanwhile.
func publishFile(from, path string, force bool) error {
	if force {
		if err := os.Rename(from, path); err != nil {
			return err
		}
		return syncDir(filepath.Dir(path))
	}
	err := os.Link(from, path)
	switch {
	case errors.Is(err, os.ErrExist):
		return checkTarget(path, force)
	case err != nil: // a file system without hard links: check and rename
		if err := checkTarget(path, force); err != nil {
			return err
		}
		err = os.Rename(from, path)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

// syncDir writes a directory entry to disk. It ignores errors, since some systems cannot open a directory and need no
// sync.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	_ = dir.Sync()
	return nil
}

// download copies the answer into the file and checks that the database is complete.
func (a *app) download(file *os.File, response *http.Response) error {
	bar := a.newProgress()
	defer bar.clear()
	count := counter{total: response.ContentLength, bar: bar}
	if _, err := io.Copy(io.MultiWriter(file, &count), response.Body); err != nil {
		if errors.Is(err, context.Canceled) {
			return &exitError{code: exitFailed, err: errors.New("interrupted: nothing was written")}
		}
		return failf(exitUnavailable, "run the command again", "the backup stopped after %s: %w", byteSize(count.done), err)
	}
	return checkComplete(file, count.done)
}

// counter is a writer that shows the progress of a copy.
type counter struct {
	done, total int64
	bar         *progress
}

// Write counts the bytes.
func (c *counter) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	if c.total > 0 {
		c.bar.bar(c.done, c.total, "%s of %s", byteSize(c.done), byteSize(c.total))
	} else {
		c.bar.show("%s", byteSize(c.done))
	}
	return len(p), nil
}

// checkComplete compares the size of a database with the size in its header, since a cut stream may end without an
// error.
func checkComplete(file io.ReaderAt, size int64) error {
	head := make([]byte, 100)
	if _, err := file.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, sqliteMagic) {
		return failf(exitFailed, "check the address of the server", "the answer of the server is not an SQLite database")
	}
	pageSize := int64(binary.BigEndian.Uint16(head[16:]))
	if pageSize == 1 { // SQLite stores 65,536 as 1
		pageSize = 1 << 16
	}
	if want := pageSize * int64(binary.BigEndian.Uint32(head[28:])); want != size {
		return failf(exitUnavailable, "run the command again", "the backup is incomplete: %s of %s received", byteSize(size), byteSize(want))
	}
	return nil
}
