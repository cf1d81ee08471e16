package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/action/sandbox"
	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/internal/yamlfile"
	"github.com/rotajobs/rota/sql/session"
)

// execKey is the section of the file that configures programs. Without it no program runs.
const execKey = "exec"

const execRemedy = "write the section as in exec: {allow: [/usr/local/bin/backup], write: [/var/backups], network: false}"

// execSetting is a setting of the section.
type execSetting struct {
	name, allowed string
	set           func(r *action.CommandRules, values []string) error
}

// execSettings are the settings of the section and of its stricter rules, with the values that they take.
var execSettings = []execSetting{
	{"allow", "a list of absolute paths, such as [/usr/local/bin/backup]", func(r *action.CommandRules, v []string) error { r.Allow = v; return nil }},
	{"dir", "an absolute path, such as /srv", one(func(r *action.CommandRules, v string) error { r.Dir = v; return nil })},
	{"env", "a list of NAME and NAME=value, such as [TARGET, LANG=C.UTF-8]", func(r *action.CommandRules, v []string) error { r.Env = v; return nil }},
	{"user", "an account or a list of accounts, such as backup", func(r *action.CommandRules, v []string) error { r.Users = v; return nil }},
	{"read", "a list of absolute paths, such as [/usr, /lib*, /srv/data]", func(r *action.CommandRules, v []string) error { r.Read = v; return nil }},
	{"write", "a list of absolute paths, such as [/var/backups]", func(r *action.CommandRules, v []string) error { r.Write = v; return nil }},
	{"network", "true or false", one(func(r *action.CommandRules, v string) error {
		r.Network = new(bool)
		return boolKind(r.Network).Set(v)
	})},
	{"memory", "a size such as 512MiB", one(func(r *action.CommandRules, v string) (err error) { r.Memory, err = parseSize(v); return err })},
	{"cpu", "a number of processors such as 0.5", one(func(r *action.CommandRules, v string) error { return fractionKind(&r.CPU, 0, 1024).Set(v) })},
	{"processes", "a whole number such as 50", one(func(r *action.CommandRules, v string) error { return wholeKind(&r.Processes, 0, countMax).Set(v) })},
	{"output", "a size such as 10MiB", one(func(r *action.CommandRules, v string) (err error) { r.Output, err = parseSize(v); return err })},
	{"isolation", "full, landlock or none", one(func(r *action.CommandRules, v string) error { r.Isolation = sandbox.Isolation(v); return nil })},
}

// profilesKey is the part of the section with stricter rules, below jobs and roles.
const profilesKey = "profiles"

// remoteKey is the part of the section that leaves programs to remote workers.
const remoteKey = "remote"

// one is the setter of a setting with one value.
func one(set func(*action.CommandRules, string) error) func(*action.CommandRules, []string) error {
	return func(r *action.CommandRules, values []string) error {
		if len(values) != 1 {
			return fmt.Errorf("it has %d values", len(values))
		}
		return set(r, values[0])
	}
}

// readExec reads the section exec.
func (r *parsedFile) readExec(section yamlfile.Entry) error {
	r.exec, r.execSources = &action.CommandConfig{}, map[string]string{execKey: r.at(section)}
	return r.execRules(section, execKey, &r.exec.CommandRules, r.readProfiles)
}

// readProfiles reads the stricter rules.
func (r *parsedFile) readProfiles(section yamlfile.Entry, key string) error {
	return r.execEntries(section, key, func(kind yamlfile.Entry, kindKey string) error {
		all := map[string]action.CommandRules{}
		switch kind.Name {
		case "jobs":
			r.exec.Jobs = all
		case "roles":
			r.exec.Roles = all
		default:
			return r.errorAt(kind, "", "unknown setting "+quoted(kindKey), "write profiles: {jobs: {NAME: {…}}, roles: {NAME: {…}}}")
		}
		return r.execEntries(kind, kindKey, func(profile yamlfile.Entry, key string) error {
			var rules action.CommandRules
			r.execSources[key] = r.at(profile)
			err := r.execRules(profile, key, &rules, nil)
			all[profile.Name] = rules
			return err
		})
	})
}

func (r *parsedFile) execRules(section yamlfile.Entry, key string, rules *action.CommandRules, profiles func(yamlfile.Entry, string) error) error {
	return r.execEntries(section, key, func(e yamlfile.Entry, key string) error {
		switch {
		case e.Name == profilesKey && profiles != nil:
			return profiles(e, key)
		case e.Name == remoteKey && profiles != nil:
			l, err := r.line(e, key, "write true or false")
			if err == nil && boolKind(&r.exec.Remote).Set(l.text) != nil {
				return r.errorAt(e, key, "unknown value "+quoted(l.text), "write true or false")
			}
			return err
		}
		i := slices.IndexFunc(execSettings, func(s execSetting) bool { return s.name == e.Name })
		if i < 0 {
			return r.errorAt(e, "", "unknown setting "+quoted(key), execHint(e.Name))
		}
		values, isList := scalars(e.Value)
		if !isList {
			return r.errorAt(e, key, "the value is not a list of texts", "write "+execSettings[i].allowed)
		}
		r.execSources[key] = r.at(e)
		if err := execSettings[i].set(rules, values); err != nil {
			return r.errorAt(e, key, err.Error(), "write "+execSettings[i].allowed)
		}
		return nil
	})
}

func execHint(name string) string {
	names := make([]string, len(execSettings))
	for i, s := range execSettings {
		names[i] = s.name
	}
	if meant := suggest.Nearest(name, append(names, profilesKey)); meant != "" {
		return "did you mean " + meant + "?"
	}
	return "the settings of exec are " + strings.Join(names, ", ") + " and " + profilesKey
}

func (r *parsedFile) execEntries(section yamlfile.Entry, key string, visit func(yamlfile.Entry, string) error) error {
	if text, isScalar := scalar(section.Value); isScalar && text == "" {
		return nil // an empty section
	}
	if !yamlfile.IsMapping(section.Value) {
		return r.errorAt(section, key, "this is a section, not a setting", execRemedy)
	}
	entries, err := r.Entries(section.Value)
	for _, e := range entries {
		if err := visit(e, key+"."+e.Name); err != nil {
			return err
		}
	}
	return err
}

func (r *parsedFile) at(e yamlfile.Entry) string { return r.Name + ":" + strconv.Itoa(e.Line()) }

// scalars are the texts of a list, or a single one. An empty list is not nil.
func scalars(node ast.Node) (texts []string, isList bool) {
	texts = []string{}
	values := []ast.Node{node}
	if list, isList := node.(*ast.SequenceNode); isList {
		values = list.Values
	}
	for _, value := range values {
		text, isScalar := scalar(value)
		if !isScalar || text == "" {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

// setExec sets the section of the file. Its errors name the line.
func (c *Config) setExec(read *parsedFile) error {
	if read.exec == nil {
		return nil
	}
	c.Exec, c.execSources = read.exec, read.execSources
	return c.withLine(c.Exec.Check())
}

// withLine adds the file and line of the setting that an error names.
func (c *Config) withLine(err error) error {
	var refusal *rota.Error
	if !errors.As(err, &refusal) {
		return err
	}
	source := ""
	for key, at := range c.execSources { // the longest key that contains the field
		if (refusal.Field == key || strings.HasPrefix(refusal.Field, key+".")) && len(key) > len(source) {
			source, refusal.Act = key, at
		}
	}
	return refusal
}

// openCommands checks what programs need of this system. With isolation they never reach the files of the server.
func (n *Node) openCommands() (*action.Commands, error) {
	if n.config.programs() != session.ProgramsHere {
		return nil, nil
	}
	var files []string
	if file := n.storeFile(); file != "" {
		files = append(files, file, file+"-wal", file+"-shm", file+"-journal")
	}
	return n.config.OpenCommands(n.logger, files...)
}

// environmentFile is where the unit of the package reads variables from, passwords among them. Programs of a server that is root could
// read it, as /etc is in read.
const environmentFile = "/etc/rota/rota.env"

// OpenCommands checks what the programs of the configuration need of this system. With isolation they never reach the data directory,
// the keys and the files of the configuration, nor the other files.
func (c *Config) OpenCommands(logger *slog.Logger, files ...string) (*action.Commands, error) {
	config := *c.Exec
	config.CancelGrace = c.CancelGrace
	if _, err := os.Stat(environmentFile); err == nil {
		files = append(files, environmentFile)
	}
	hidden, err := absolutePaths(append(files, c.Data, c.HTTPKey, c.SQLKey, c.file))
	if err != nil {
		return nil, err
	}
	config.Hidden = slices.Concat(config.Hidden, hidden)
	commands, warnings, err := action.OpenCommands(config)
	for _, warning := range warnings {
		logger.Warn("programs may not run as configured", "reason", warning)
	}
	return commands, c.withLine(err)
}

// programs says who runs the programs of exec jobs.
func (c *Config) programs() session.Programs {
	switch {
	case c.Exec == nil:
		return session.ProgramsOff
	case c.Exec.Remote:
		return session.ProgramsRemote
	}
	return session.ProgramsHere
}

// declareExec declares the type exec for other servers and workers, if this server has no handler for it.
func (n *Node) declareExec(ctx context.Context) error {
	if n.config.programs() == session.ProgramsHere {
		return nil
	}
	name, spec := action.Exec{}.JobType(), action.ExecSpec()
	known, err := n.store.Type(ctx, name)
	if err == nil && known.Spec.Equal(spec) {
		return nil
	}
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		return err
	}
	_, err = rota.Do[*rota.TypePut](ctx, n.store, &rota.PutType{Meta: rota.NewMeta(rota.SystemActor), Name: name, Spec: spec})
	return err
}

// absolutePaths leaves empty paths out.
func absolutePaths(files []string) (paths []string, err error) {
	for _, file := range files {
		if file == "" {
			continue
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
