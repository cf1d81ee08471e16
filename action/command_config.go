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

	Remote bool // the server runs no programs and leaves exec jobs to rota worker

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
	Users     []string // accounts that programs may run as; the first is the default. Empty: that of the server, and any other if it is root
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
			key := "exec." + kind.name + "." + name
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

func invalidRule(key, hint, format string, args ...any) error {
	return &rota.Error{Code: rota.Invalid, Act: "configuration", Field: key, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// check checks rules by themselves.
func (r *CommandRules) check(key string) error {
	policy := sandbox.Policy{
		Isolation: r.Isolation, Allow: r.Allow, Read: r.Read, Write: r.Write, Dir: r.Dir, Memory: r.Memory, CPU: r.CPU, Processes: r.Processes,
	}
	if err := policy.Validate(); err != nil {
		return invalidRule(key, "correct it", "%s", err)
	}
	if r.Output < 0 {
		return invalidRule(key+".output", "write a size such as 10MiB", "%d bytes is negative", r.Output)
	}
	for _, entry := range r.Env {
		name, _, fixed := strings.Cut(entry, "=")
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

// checkStricter refuses rules that allow more than those of the section.
func (r *CommandRules) checkStricter(key string, p CommandRules) error {
	const hint = "a job or role can only have stricter rules than the section exec: change it, or allow it in the section"
	for _, list := range []struct {
		name         string
		own, section []string
		covers       func(section []string, one string) bool
	}{
		{"allow", p.Allow, r.Allow, coversPath}, {"read", p.Read, slices.Concat(r.Read, r.Write), coversPath}, {"write", p.Write, r.Write, coversPath},
		{"env", p.Env, r.Env, coversVariable}, {"user", p.Users, r.Users, coversUser},
	} {
		for _, one := range list.own {
			if !list.covers(list.section, one) {
				return invalidRule(key+"."+list.name, hint, "%s is not allowed by exec.%s", one, list.name)
			}
		}
	}
	for _, limit := range []struct {
		name         string
		own, section float64
	}{
		{"memory", float64(p.Memory), float64(r.Memory)}, {"cpu", p.CPU, r.CPU},
		{"processes", float64(p.Processes), float64(r.Processes)}, {"output", float64(p.Output), float64(r.Output)},
	} {
		if limit.section > 0 && limit.own > limit.section {
			return invalidRule(key+"."+limit.name, hint, "it is higher than exec.%s", limit.name)
		}
	}
	if p.Network != nil && *p.Network && (r.Network == nil || !*r.Network) {
		return invalidRule(key+".network", hint, "exec.network is false")
	}
	if p.Isolation != "" && isolationRank[p.Isolation] < isolationRank[r.Isolation] {
		return invalidRule(key+".isolation", hint, "%s is weaker than %s", p.Isolation, r.Isolation)
	}
	return nil
}

var isolationRank = map[sandbox.Isolation]int{sandbox.None: 0, sandbox.Landlock: 1, sandbox.Full: 2}

// coversPath reports whether a path is one of the section, or below one.
func coversPath(section []string, path string) bool {
	path = filepath.Clean(path)
	return slices.ContainsFunc(section, func(of string) bool {
		of = filepath.Clean(of)
		return path == of || strings.HasPrefix(path, strings.TrimSuffix(of, "/")+"/") && !strings.ContainsAny(path, "*?[")
	})
}

// coversVariable reports whether jobs may set a variable. A fixed value restricts what jobs may set.
func coversVariable(section []string, entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return slices.Contains(section, entry) || slices.Contains(section, name) || slices.Contains(settable, name)
}

func coversUser(section []string, name string) bool {
	return len(section) == 0 || slices.Contains(section, name)
}

// rulesOf returns the rules of a job: those of the section, made stricter by those of its names and of the user and its roles.
func (c *CommandConfig) rulesOf(jobs, roles []string) (CommandRules, error) {
	rules := c.CommandRules
	for _, of := range []struct {
		names []string
		rules map[string]CommandRules
	}{{jobs, c.Jobs}, {roles, c.Roles}} {
		for _, name := range of.names {
			stricter, has := of.rules[name]
			if !has {
				continue
			}
			if err := stricter.checkLinks(&c.CommandRules); err != nil {
				return rules, err
			}
			rules = rules.narrow(&stricter)
		}
	}
	return rules, nil
}

// narrow combines two rules to what both allow.
func (r CommandRules) narrow(p *CommandRules) CommandRules {
	if p.Allow != nil {
		r.Allow = both(r.Allow, p.Allow, coversPath)
	}
	if p.Read != nil {
		r.Read = both(r.Read, p.Read, coversPath)
	}
	if p.Write != nil {
		r.Write = both(r.Write, p.Write, coversPath)
	}
	if p.Env != nil {
		// Fixed values of the section stay. A variable is settable if both lists have it.
		r.Env = slices.Concat(
			slices.DeleteFunc(slices.Clone(r.Env), func(e string) bool { return !strings.Contains(e, "=") && !slices.Contains(p.Env, e) }),
			slices.DeleteFunc(slices.Clone(p.Env), func(e string) bool { return !strings.Contains(e, "=") }))
	}
	if p.Users != nil {
		r.Users = both(r.Users, p.Users, coversUser)
	}
	r.Dir = cmp.Or(p.Dir, r.Dir)
	if p.Network != nil && !*p.Network {
		r.Network = p.Network
	}
	r.Memory, r.CPU = lower(r.Memory, p.Memory), lower(r.CPU, p.CPU)
	r.Processes, r.Output = lower(r.Processes, p.Processes), lower(r.Output, p.Output)
	if p.Isolation != "" && isolationRank[p.Isolation] > isolationRank[r.Isolation] {
		r.Isolation = p.Isolation
	}
	return r
}

// both returns the entries of each list that the other covers.
func both(a, b []string, covers func([]string, string) bool) []string {
	found := []string{}
	for _, pair := range [][2][]string{{b, a}, {a, b}} {
		for _, one := range pair[0] {
			if covers(pair[1], one) && !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	return found
}

// lower returns the lower of two limits, of which 0 is none.
func lower[N int | int64 | float64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// checkLinks refuses a path that a symbolic link leads out of the paths of the section: a program that can write there may have
// created the link.
func (r *CommandRules) checkLinks(section *CommandRules) error {
	for _, list := range []struct {
		name         string
		own, section []string
	}{{"read", r.Read, slices.Concat(section.Read, section.Write)}, {"write", r.Write, section.Write}} {
		var resolved []string
		for _, path := range list.section {
			found, _ := filepath.Glob(path) // the section was checked
			for _, one := range found {
				if real, err := filepath.EvalSymlinks(one); err == nil {
					resolved = append(resolved, real)
				}
			}
		}
		for _, path := range list.own {
			if strings.ContainsAny(path, "*?[") {
				continue // the same pattern as in the section
			}
			if real, err := filepath.EvalSymlinks(path); err == nil && !coversPath(resolved, real) {
				return fmt.Errorf("%s: %s leads to %s, which exec.%s does not allow", list.name, path, real, list.name)
			}
		}
	}
	return nil
}
