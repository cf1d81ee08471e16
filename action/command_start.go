package action

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action/sandbox"
)

// OpenCommands checks what the configuration needs of this system. The warnings name what does not work here as it is configured.
func OpenCommands(config CommandConfig) (commands *Commands, warnings []string, err error) {
	if err := config.Check(); err != nil {
		return nil, nil, err
	}
	config = config.withDefaults()
	if err := config.checkLinkedPaths(); err != nil {
		return nil, nil, err
	}
	policy, err := sandbox.Policy{Write: expanded(config.Write), Hidden: config.Hidden}.Resolve()
	if err != nil {
		return nil, nil, &rota.Error{Code: rota.Invalid, Act: "configuration", Field: "exec.write", Err: err}
	}
	config.Hidden = policy.Hidden // as they are now: no program can let them lead elsewhere
	warnings, err = config.probe(sandbox.ProbePolicy)
	if err != nil {
		return nil, nil, err
	}
	if err := config.checkPrograms(); err != nil {
		return nil, nil, err
	}
	if err := config.checkUsers(); err != nil {
		return nil, nil, err
	}
	paths, err := config.checkPaths()
	if err != nil {
		return nil, nil, err
	}
	removeLeftTemporary()
	return &Commands{config: config}, slices.Concat(warnings, paths), nil
}

// sections are the rules of the section and of its profiles, with their keys.
func (c *CommandConfig) sections() []profile {
	all := []profile{{"exec", c.CommandRules}}
	return append(all, c.profilesOf(slices.Sorted(maps.Keys(c.Jobs)), slices.Sorted(maps.Keys(c.Roles)))...)
}

// probe checks that this system has each isolation that a job can get, and names what is weaker here than configured.
func (c *CommandConfig) probe(of func(sandbox.Policy) ([]string, error)) (warnings []string, err error) {
	probed := map[sandbox.Isolation]bool{}
	for _, p := range c.sections() {
		isolation := cmp.Or(p.rules.Isolation, c.Isolation)
		if probed[isolation] {
			continue
		}
		probed[isolation] = true
		found, err := of(sandbox.Policy{Isolation: isolation, Network: c.Network != nil && *c.Network})
		if err != nil {
			return nil, &rota.Error{Code: rota.Invalid, Act: "configuration", Field: p.key + ".isolation", Err: isolationError{err}}
		}
		for _, warning := range found {
			if !c.concernsNoLimit(warning) && !slices.Contains(warnings, warning) {
				warnings = append(warnings, warning)
			}
		}
	}
	if probed[sandbox.None] {
		warnings = append(warnings, "isolation none: programs can do what their account can do. If it is that of the server, they can read and change its files")
	}
	if os.Geteuid() == 0 && len(c.Users) == 0 {
		warnings = append(warnings, "user: programs run as root, since the server does and the section exec names no account")
	}
	return warnings, nil
}

// isolationError is an error of a probe. Its text names the isolation once, although several steps of the probe name it.
type isolationError struct{ error }

func (e isolationError) Unwrap() error { return e.error }

func (e isolationError) Error() string {
	text := e.error.Error()
	prefix, rest, _ := strings.Cut(text, ": ")
	if strings.HasPrefix(prefix, "isolation ") && strings.HasPrefix(rest, prefix+": ") {
		return rest
	}
	return text
}

// concernsNoLimit reports whether a warning is about a limit that nothing sets.
func (c *CommandConfig) concernsNoLimit(warning string) bool {
	name, _, _ := strings.Cut(warning, ":")
	isSet, isLimit := map[string]func(*CommandRules) bool{
		"memory":    func(r *CommandRules) bool { return r.Memory > 0 },
		"cpu":       func(r *CommandRules) bool { return r.CPU > 0 },
		"processes": func(r *CommandRules) bool { return r.Processes > 0 },
	}[name]
	return isLimit && !slices.ContainsFunc(c.sections(), func(p profile) bool { return isSet(&p.rules) })
}

// checkUsers refuses accounts that programs can never run as.
func (c *CommandConfig) checkUsers() error {
	for _, p := range c.sections() {
		for _, name := range p.rules.Users {
			switch {
			case isOwnAccount(name):
			case os.Geteuid() != 0:
				return invalidRule(p.key+".user", "remove it, or run the server as root",
					"programs cannot run as %.64s: only a server that runs as root can run them as another account, and this one runs as %s", name, current().Username)
			default:
				if _, err := lookUp(name); err != nil {
					return invalidRule(p.key+".user", "correct the name, or create the account", "%s", strings.TrimPrefix(err.Error(), "user: "))
				}
			}
		}
	}
	return nil
}

// checkPaths names paths that let runs fail. Only what looks like two paths is an error: a path can appear later, when a file system is
// mounted or a program is installed.
func (c *CommandConfig) checkPaths() (warnings []string, err error) {
	if len(c.Allow) == 0 {
		warnings = append(warnings, "exec.allow: no program is allowed, so each exec job fails; name programs in allow, or leave them to workers with remote: true")
	}
	for _, p := range c.sections() {
		for _, list := range []struct {
			name  string
			paths []string
			fault func(path string) string
		}{
			{"allow", p.rules.Allow, c.allowFault},
			{"read", p.rules.Read, missing("programs run without it until it exists; create it, or remove it")},
			{"write", p.rules.Write, missing("until it exists " + runsOf(p.key) + " fails; create it, or remove it")},
			{
				"dir", slices.DeleteFunc([]string{p.rules.Dir}, func(dir string) bool { return dir == "" }),
				missing("until it exists " + runsOf(p.key) + " that names no dir fails; create it, or remove it"),
			},
		} {
			for _, path := range list.paths {
				fault := list.fault(path)
				if fault == "" {
					continue
				}
				if strings.Contains(path, " /") && isMissing(path) {
					return nil, invalidRule(p.key+"."+list.name, "write a comma between paths: ["+strings.ReplaceAll(path, " /", ", /")+"]", "%s does not exist", path)
				}
				warnings = append(warnings, p.key+"."+list.name+": "+fault)
			}
		}
	}
	return warnings, nil
}

// checkLinkedPaths refuses links to the file systems of the kernel, and patterns that match one.
func (c *CommandConfig) checkLinkedPaths() error {
	for _, p := range c.sections() {
		for _, list := range []struct {
			name  string
			paths []string
		}{{"read", p.rules.Read}, {"write", p.rules.Write}} {
			for _, path := range list.paths {
				found, _ := filepath.Glob(path) // Check has checked the pattern
				for _, one := range found {
					if err := checkKernelPath(p.key+"."+list.name, path, realPath(one), list.name == "write"); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// runsOf names the runs that have the rules of a key.
func runsOf(key string) string {
	if key == "exec" {
		return "every run"
	}
	return "every run of this profile"
}

// missing returns a function that says that a path does not exist, and what follows from that.
func missing(consequence string) func(path string) string {
	return func(path string) string {
		if !isMissing(path) {
			return ""
		}
		return path + " does not exist: " + consequence
	}
}

// isMissing reports whether a path does not exist. A pattern may match nothing.
func isMissing(path string) bool {
	if strings.ContainsAny(path, "*?[") {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// existing returns the paths that exist. A program can read nothing from the others, so a run does not fail because of them.
func existing(paths []string) []string { return slices.DeleteFunc(slices.Clone(paths), isMissing) }

// allowFault says why a program, or no program of a directory, can be executed.
func (c *CommandConfig) allowFault(path string) string {
	if fault := missing("until it exists every job that names it fails; create it, or remove it")(path); fault != "" {
		return fault
	}
	name := path
	info, err := os.Stat(path)
	isDir := err == nil && info.IsDir()
	if isDir {
		name = filepath.Join(path, rand.Text()) // a program that does not exist, so that only the directories are checked
	}
	program, err := sandbox.Open(name, sandbox.Policy{Isolation: c.Isolation, Allow: []string{path}, Hidden: c.Hidden})
	switch {
	case err == nil:
		_ = program.Close()
		return ""
	case isDir && errors.Is(err, fs.ErrNotExist):
		return ""
	}
	return err.Error()
}
