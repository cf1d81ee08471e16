package action

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action/sandbox"
	"github.com/rotajobs/rota/engine"
)

// DefaultCommandOutput is how much output of a program is kept, in bytes.
const DefaultCommandOutput = 10 << 20

// CommandConfig is what programs of exec jobs can reach and use. The zero value allows no program.
type CommandConfig struct {
	CommandRules

	Jobs  map[string]CommandRules // stricter rules for jobs, by the name of their template or schedule
	Roles map[string]CommandRules // stricter rules for jobs that run with the rights of a user or role

	Owner  string // whose configuration it is, for errors; empty: the server
	Remote bool   // the server runs no programs and leaves exec jobs to rota worker

	Hidden      []string      // files and directories that no program reaches
	CancelGrace time.Duration // how long a program may take to end after SIGTERM; 0: engine.DefaultCancelGrace
}

// CommandRules are the rules of programs. In the stricter rules of a job or role, a zero value keeps the rule of the section.
type CommandRules struct {
	Allow     []string // programs that a job may name, and directories of such programs
	Read      []string // what programs can read and execute; nil: sandbox.DefaultRead
	Write     []string // what programs can read and change
	Dir       string   // working directory
	Env       []string // NAME: a job may set the variable; NAME=value: programs have it, and jobs cannot set it
	Users     []string // accounts that programs may run as; the first is the default. nil: that of the server only; an empty list is refused
	Network   *bool    // whether programs can use the network; nil: no
	Memory    int64    // bytes; 0: no limit, as in the limits below
	CPU       float64  // processors
	Processes int      // processes and threads at a time
	Output    int64    // bytes of output that are kept; 0: DefaultCommandOutput
	Isolation sandbox.Isolation
}

func (c CommandConfig) withDefaults() CommandConfig {
	if c.Read == nil {
		c.Read = slices.DeleteFunc(sandbox.DefaultRead(), func(path string) bool {
			_, err := os.Stat(path)
			return err != nil && !strings.Contains(path, "*")
		})
	}
	c.Output = cmp.Or(c.Output, DefaultCommandOutput)
	c.Isolation = cmp.Or(c.Isolation, sandbox.Full)
	c.CancelGrace = cmp.Or(c.CancelGrace, engine.DefaultCancelGrace)
	return c
}

// killAfter is when a program that ignores SIGTERM is killed: early enough for the engine to record its end.
func (c *CommandConfig) killAfter() time.Duration {
	return c.CancelGrace - min(time.Second, c.CancelGrace/4)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// memoryMin is the lowest limit of memory. Below it the kernel ends programs before their first instruction.
const memoryMin = 4 << 20

// Check returns an error for rules that are not valid, or that are looser than those of the section. Its act is the name of the rule.
func (c CommandConfig) Check() error {
	if err := c.CommandRules.check("exec"); err != nil {
		return err
	}
	full := c.withDefaults()
	for _, kind := range []struct {
		name  string
		rules map[string]CommandRules
	}{{"jobs", c.Jobs}, {"roles", c.Roles}} {
		for _, name := range slices.Sorted(maps.Keys(kind.rules)) {
			key := "exec.profiles." + kind.name + "." + name
			rules := kind.rules[name]
			if err := rules.check(key); err != nil {
				return err
			}
			if err := full.checkStricter(key, rules); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPrograms refuses programs that other programs could replace.
func (c *CommandConfig) checkPrograms() error {
	if c.Isolation == sandbox.None {
		return nil // a program can change what its user can change
	}
	for _, program := range c.Allow {
		for _, dir := range expanded(c.Write) {
			if coversPath([]string{realPath(dir)}, realPath(program)) {
				return invalidRule("exec.write", "move the program, or name narrower directories",
					"%s contains %s of allow: a program could replace what jobs may name", dir, program)
			}
		}
	}
	return nil
}

// expanded replaces patterns by the paths that match them now, so that the sandbox knows which directories programs can change.
func expanded(paths []string) (all []string) {
	for _, path := range paths {
		if !strings.ContainsAny(path, "*?[") {
			all = append(all, path)
			continue
		}
		found, _ := filepath.Glob(path) // Check has checked the pattern
		all = append(all, found...)
	}
	return all
}

// realPath follows symbolic links if the path exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func invalidRule(key, hint, format string, args ...any) error {
	return &rota.Error{Code: rota.Invalid, Act: "configuration", Field: key, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// check checks rules by themselves.
func (r *CommandRules) check(key string) error {
	if err := r.checkPaths(key); err != nil {
		return err
	}
	if _, known := isolationRank[r.Isolation]; r.Isolation != "" && !known {
		return invalidRule(key+".isolation", "use full, landlock or none", "unknown value %.64q", r.Isolation)
	}
	policy := sandbox.Policy{Memory: r.Memory, CPU: r.CPU, Processes: r.Processes}
	if err := policy.Validate(); err != nil {
		return invalidRule(key, "use a positive number, or remove the limit", "%s", err)
	}
	if r.Memory > 0 && r.Memory < memoryMin {
		return invalidRule(key+".memory", "write a size from 4MiB, such as 512MiB", "no program can start with %d bytes", r.Memory)
	}
	if r.Users != nil && len(r.Users) == 0 {
		return invalidRule(key+".user", "name an account, or remove the setting", "the list names no account")
	}
	if r.Output < 0 {
		return invalidRule(key+".output", "write a size such as 10MiB", "%d bytes is negative", r.Output)
	}
	values := map[string]string{}
	for _, entry := range r.Env {
		name, value, fixed := strings.Cut(entry, "=")
		if was, twice := values[name]; fixed && twice && was != value {
			return invalidRule(key+".env", "remove one of the values", "%s has two values", name)
		} else if fixed {
			values[name] = value
		}
		switch {
		case !variableName.MatchString(name):
			return invalidRule(key+".env", "write NAME, or NAME=value", "%.64q is not the name of a variable", name)
		case !fixed && isLoaderVariable(name):
			return invalidRule(key+".env", "remove it, or set its value here: "+name+"=value", "jobs can never set %s, which decides what code a program loads", name)
		case strings.ContainsRune(entry, 0):
			return invalidRule(key+".env", "remove it", "the value of %s contains a NUL character", name)
		}
	}
	return nil
}

// checkPaths refuses texts that are no absolute path.
func (r *CommandRules) checkPaths(key string) error {
	for _, list := range []struct {
		name, hint string
		paths      []string
	}{
		{"allow", "write absolute paths, such as [/usr/local/bin/backup]", r.Allow},
		{"read", "write absolute paths, such as [/usr, /lib*, /srv/data]", r.Read},
		{"write", "write absolute paths, such as [/var/backups]", r.Write},
		{"dir", "write an absolute path, such as /srv", slices.DeleteFunc([]string{r.Dir}, func(dir string) bool { return dir == "" })},
	} {
		for _, path := range list.paths {
			_, patternErr := filepath.Match(path, "")
			switch {
			case !filepath.IsAbs(path):
				return invalidRule(key+"."+list.name, list.hint, "%.128q is not an absolute path", path)
			case strings.ContainsRune(path, 0):
				return invalidRule(key+"."+list.name, list.hint, "%.128q contains a NUL character", path)
			case patternErr != nil && (list.name == "read" || list.name == "write"):
				return invalidRule(key+"."+list.name, `close the bracket, or write \ before it if the name contains it`, "%.128q is not a pattern", path)
			case list.name == "read" || list.name == "write":
				if err := checkKernelPath(key+"."+list.name, path, path, list.name == "write"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkKernelPath refuses the file systems of the kernel, of which /proc and /dev of the machine would hide those that each program has.
// at is the path that the setting names, real is where it leads.
func checkKernelPath(key, at, real string, isWrite bool) error {
	reasons := map[string]string{"proc": "programs would see the processes and settings of the machine; each program has its own /proc"}
	if isWrite {
		reasons = map[string]string{
			"proc": "programs could change settings of the kernel; each program has its own /proc",
			"sys":  "programs could change settings of the kernel and of devices",
			"dev":  "programs could change devices of the machine; each program has null, zero, full, random and urandom",
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(filepath.Clean(real), "/"), "/")
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if matches, _ := filepath.Match(first, name); matches {
			leads := ""
			if real != at {
				leads = ", which leads to " + real + ","
			}
			return invalidRule(key, "remove it", "%.128s%s is refused: %s", at, leads, reasons[name])
		}
	}
	return nil
}
