package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/runlog"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/sqlite"
)

// backupOrNone returns backup, or nil if the store is on a database server.
func (n *Node) backupOrNone() func(ctx context.Context, path string, progress func(done, total int64)) error {
	if n.backend.backup == nil {
		return nil
	}
	return n.backup
}

// backup writes a copy of the store, and of what else a data directory needs to be whole: the logs of
// runs and the SQLite databases of targets. Files that are written meanwhile are copied as they are
// after the store.
func (n *Node) backup(ctx context.Context, path string, progress func(done, total int64)) error {
	files, contents, err := n.backupFiles()
	if err != nil {
		return err
	}
	extra := int64(0)
	for _, f := range files {
		extra += f.space()
	}
	store := int64(0)
	err = n.backend.backup(ctx, path, func(done, total int64) {
		store = total
		progress(done, total+extra)
	})
	if err != nil {
		return err
	}
	attached, err := sqlite.OpenAttachments(path)
	if err != nil {
		return err
	}
	done := store
	for _, f := range files {
		size, err := f.attach(ctx, attached, n.scratch, func(bytes int64) {
			done += bytes
			progress(min(done, store+extra), store+extra)
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			_ = attached.Close(nil)
			return backupError(f.name, err)
		}
		contents.Included[f.kind].Files++
		contents.Included[f.kind].Bytes += size
	}
	contents.Included = slices.DeleteFunc(contents.Included, func(c sqlite.Content) bool { return c.Files == 0 })
	return attached.Close(contents)
}

func backupError(name string, err error) error {
	var known *rota.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	return &rota.Error{Code: rota.Unavailable, Act: "backup", Reason: name + " cannot be copied", Err: cause(err), Hint: "check the file and the free disk space of the server"}
}

// backupFile is a file of the data directory that a backup contains.
type backupFile struct {
	name     string // path in the data directory, with slashes
	path     string
	kind     int // index in Contents.Included
	size     int64
	database bool
}

// space returns the bytes that the file needs on disk during the backup. A database is copied twice: to
// one point in time, and from there into the backup.
func (f *backupFile) space() int64 {
	if f.database {
		return 2 * f.size
	}
	return f.size
}

// attach adds the file to a backup. A database is copied at one point in time first. A log that a run
// still writes is copied up to the size that it has now.
func (f *backupFile) attach(ctx context.Context, to *sqlite.Attachments, scratch string, progress func(bytes int64)) (int64, error) {
	path := f.path
	if f.database {
		dir, err := os.MkdirTemp(scratch, backupPrefix)
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "target.db")
		copied := int64(0)
		err = sqlite.CopyDatabase(ctx, f.path, path, func(done, _ int64) {
			progress(done - copied)
			copied = done
		})
		if err != nil {
			return 0, err
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return to.Add(ctx, f.name, io.LimitReader(file, info.Size()), progress)
}

// kindLogs is the index of logs in Contents.Included; targets follow.
const kindLogs = 0

// backupFiles lists the files that a backup contains, and what it leaves out.
func (n *Node) backupFiles() ([]backupFile, *sqlite.Contents, error) {
	contents := &sqlite.Contents{
		Version: n.config.Version, At: n.clock().UTC(),
		Included: []sqlite.Content{kindLogs: {What: "run logs"}},
		LeftOut: []sqlite.LeftOut{
			{What: tokenName + " and " + verifierName, Why: "a restored directory keeps its own token, or the server creates one"},
			{What: auditKeyName + " and " + auditHeadName, Why: "the key belongs to one node, and a head is newer than the backup"},
			{What: "configuration, certificates and environment variables", Why: "they are not in the data directory"},
		},
	}
	files, err := n.logFiles()
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(n.path(secret.FileName)); err == nil {
		contents.LeftOut = append(contents.LeftOut, sqlite.LeftOut{What: secret.FileName, Why: "keep a copy of it apart: the restored store needs it for its secrets"})
	}
	known := []string{lockName, addrName, tokenName, verifierName, auditKeyName, auditHeadName, logsName, scratchName, secret.FileName, secret.LockName}
	if file := n.storeFile(); file != "" {
		known = append(known, databaseNames(n.config.Data, file)...)
	}
	if n.backend.logs != nil {
		contents.LeftOut = append(contents.LeftOut, sqlite.LeftOut{What: "run logs in the table", Why: "they are not part of the store; use the backups of DynamoDB"})
		known = append(known, dynamo.ReplicaFiles()...)
	}
	for _, t := range n.targetFiles(contents) {
		files = append(files, t)
		known = append(known, databaseNames(n.config.Data, t.path)...)
	}
	return files, contents, n.leaveOutOthers(known, contents)
}

// logFiles lists the logs of runs.
func (n *Node) logFiles() (files []backupFile, err error) {
	days, err := os.ReadDir(n.path(logsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, backupError(logsName, err)
	}
	for _, day := range days {
		if !day.IsDir() {
			continue
		}
		dir := filepath.Join(n.path(logsName), day.Name())
		logs, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, backupError(logsName+"/"+day.Name(), err)
		}
		for _, log := range logs {
			info, err := log.Info()
			if err != nil || !info.Mode().IsRegular() || !runlog.IsName(log.Name()) {
				continue
			}
			name := strings.Join([]string{logsName, day.Name(), log.Name()}, "/")
			files = append(files, backupFile{name: name, path: filepath.Join(dir, log.Name()), kind: kindLogs, size: info.Size()})
		}
	}
	return files, nil
}

// targetFiles lists the SQLite databases of targets that are in the data directory. The contents name
// the other targets as left out.
func (n *Node) targetFiles(contents *sqlite.Contents) (files []backupFile) {
	targets := maps.Clone(n.config.Targets)
	if targets == nil {
		targets = map[string]action.Target{}
	}
	if _, has := targets[action.MainTarget]; !has {
		targets[action.MainTarget] = action.Target{URL: action.MainURL}
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		for _, url := range slices.Compact(slices.Sorted(slices.Values(append(slices.Collect(maps.Values(targets[name].Roles)), targets[name].URL)))) {
			path, isFile := strings.CutPrefix(url, sqliteScheme+":")
			inside := dataPath(n.config.Data, path)
			switch {
			case !isFile:
				contents.LeftOut = append(contents.LeftOut, sqlite.LeftOut{What: "target " + name, Why: "it is on a database server; use its backups"})
			case inside == "":
				contents.LeftOut = append(contents.LeftOut, sqlite.LeftOut{What: "target " + name, Why: "its file is not in the data directory"})
			default:
				info, err := os.Stat(filepath.Join(n.config.Data, inside))
				if err != nil || !info.Mode().IsRegular() {
					continue // no job has used it yet
				}
				contents.Included = append(contents.Included, sqlite.Content{What: fmt.Sprintf("target %s (%s)", name, inside)})
				files = append(files, backupFile{
					name: filepath.ToSlash(inside), path: filepath.Join(n.config.Data, inside), kind: len(contents.Included) - 1, size: info.Size(), database: true,
				})
			}
		}
	}
	return files
}

// dataPath returns a path relative to the data directory; empty if it leads out of it.
func dataPath(data, path string) string {
	if filepath.IsAbs(path) {
		full, err := filepath.Abs(data)
		if err != nil {
			return ""
		}
		if path, err = filepath.Rel(full, path); err != nil {
			return ""
		}
	}
	if !filepath.IsLocal(path) {
		return ""
	}
	return filepath.Clean(path)
}

// databaseNames returns the names of an SQLite database in the data directory, and of the files beside
// it.
func databaseNames(data, path string) []string {
	full, err := filepath.Abs(path)
	name := ""
	if err == nil {
		name = dataPath(data, full)
	}
	return []string{name, name + "-wal", name + "-shm", name + "-journal", name + ".lock"}
}

// othersMax limits the files that the contents name one by one.
const othersMax = 20

// leaveOutOthers names the files of the data directory that Rota does not know.
func (n *Node) leaveOutOthers(known []string, contents *sqlite.Contents) error {
	entries, err := os.ReadDir(n.config.Data)
	if err != nil {
		return backupError(n.config.Data, err)
	}
	others := 0
	for _, entry := range entries {
		below := func(path string) bool { return strings.HasPrefix(path, entry.Name()+"/") } // a folder with a target is used
		if slices.Contains(known, entry.Name()) || strings.HasPrefix(entry.Name(), ".") || slices.ContainsFunc(known, below) {
			continue
		}
		if others++; others <= othersMax {
			contents.LeftOut = append(contents.LeftOut, sqlite.LeftOut{What: entry.Name(), Why: "Rota does not use it"})
		}
	}
	if others > othersMax {
		contents.LeftOut = append(contents.LeftOut, sqlite.LeftOut{What: fmt.Sprintf("%d more files", others-othersMax), Why: "Rota does not use them"})
	}
	return nil
}
