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
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

const backupExample = `  rota backup rota-2026-11-15.db
  rota backup /mnt/backups/rota.db --force                  # put a new one in place of the old
  rota backup rota.db && rota verify --store sqlite:rota.db # make one and check it`

// backupView is the answer, as JSON and YAML have it.
type backupView struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func newBackupCommand(a *app) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Writes a consistent copy of a running server's store",
		Long: `Writes a copy of the store as it was at one moment, while the server goes on. FILE appears when it is whole and
on disk, under its name in one step: a backup that was interrupted leaves nothing behind. Run logs are
not in it. rota restore puts it back.`,
		Example: backupExample,
		Args:    requireArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM) // so that no half file stays
			defer stop()
			return a.backup(ctx, args[0], force)
		},
		ValidArgsFunction: completeFiles,
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it is there")
	return cmd
}

// completeFiles leaves the first argument to the shell, which knows files.
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
	response, err := a.open(ctx, request{method: http.MethodGet, path: "/backup", accept: "application/vnd.sqlite3"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	size, err := writeAtomically(path, force, func(file *os.File) error { return a.download(file, response) })
	if err != nil {
		return err
	}
	return a.print(backupView{path, size}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "wrote %s, %s\n", path, byteSize(size))
		return err
	})
}

// checkTarget refuses before anything is read what would be refused after.
func checkTarget(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return checkParentDir(path)
	case err != nil:
		return usagef("see that the path is right", "%s", openError(err))
	case info.IsDir():
		return usagef("name a file in it", "%s is a directory", path)
	case !force:
		return &exitError{code: exitFailed, err: fmt.Errorf("%s is there already", path), hint: "name another file, or replace it with --force"}
	}
	return nil
}

// checkParentDir refuses the name of a file in a directory that is not there.
func checkParentDir(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return usagef("make it first, or name a file elsewhere", "there is no directory %s", dir)
	}
	return nil
}

// writeAtomically writes a file that is there under its name only when it is whole and on disk.
func writeAtomically(path string, force bool, write func(*os.File) error) (size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part")
	if err != nil {
		return 0, usagef("see that the directory exists and may be written", "%s", openError(err))
	}
	defer os.Remove(file.Name()) // gone already if all went well
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

// publishFile gives a file its name. Without force a file that came meanwhile wins, since a link never replaces one.
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
	case err != nil: // a file system without links: the look before has to do
		if err := checkTarget(path, force); err != nil {
			return err
		}
		err = os.Rename(from, path)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

// syncDir makes a new name last. Some systems cannot open a directory for that, and need not.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	_ = dir.Sync()
	return nil
}

// download copies the answer and looks whether it is a whole database: a stream that broke off must not pass for one.
func (a *app) download(file *os.File, response *http.Response) error {
	bar := a.newProgress()
	defer bar.clear()
	count := counter{total: response.ContentLength, bar: bar}
	if _, err := io.Copy(io.MultiWriter(file, &count), response.Body); err != nil {
		if errors.Is(err, context.Canceled) {
			return &exitError{code: exitFailed, err: errors.New("interrupted: nothing was written")}
		}
		return &exitError{code: exitUnavailable, err: fmt.Errorf("the backup broke off after %s: %w", byteSize(count.done), err), hint: "try again"}
	}
	return checkComplete(file, count.done)
}

// counter shows how far a copy is.
type counter struct {
	done, total int64
	bar         *progress
}

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	if c.total > 0 {
		c.bar.bar(c.done, c.total, "%s of %s", byteSize(c.done), byteSize(c.total))
	} else {
		c.bar.show("%s", byteSize(c.done))
	}
	return len(p), nil
}

// checkComplete compares the size of a file with what its head says of it.
func checkComplete(file io.ReaderAt, size int64) error {
	head := make([]byte, 100)
	if _, err := file.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, sqliteMagic) {
		return &exitError{code: exitFailed, err: errors.New("what came is not a database")}
	}
	pageSize := int64(binary.BigEndian.Uint16(head[16:]))
	if pageSize == 1 { // so the format writes 65,536
		pageSize = 1 << 16
	}
	if want := pageSize * int64(binary.BigEndian.Uint32(head[28:])); want != size {
		return &exitError{
			code: exitUnavailable, err: fmt.Errorf("the backup broke off: %s came of %s", byteSize(size), byteSize(want)), hint: "try again",
		}
	}
	return nil
}
