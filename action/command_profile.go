package action

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotajobs/rota/action/sandbox"
)

// checkStricter refuses rules that allow more than those of the section.
func (r *CommandRules) checkStricter(key string, p CommandRules) error {
	const hint = "a job or role can only have stricter rules than the section exec: change it, or allow it in the section"
	for _, list := range []struct {
		name         string
		own, section []string
		covers       func(section []string, one string) bool
	}{
		{"allow", p.Allow, r.Allow, coversPath},
		{"read", p.Read, slices.Concat(r.Read, r.Write), coversPattern},
		{"write", p.Write, r.Write, coversPattern},
		{"env", p.Env, r.Env, coversVariable},
		{"user", p.Users, r.Users, coversUser},
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
		{"memory", float64(p.Memory), float64(r.Memory)},
		{"cpu", p.CPU, r.CPU},
		{"processes", float64(p.Processes), float64(r.Processes)},
		{"output", float64(p.Output), float64(r.Output)},
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

// coversPattern is coversPath for lists in which a pattern stands for the paths that match it, and for what is below them.
func coversPattern(section []string, path string) bool {
	if coversPath(section, path) {
		return true
	}
	if strings.ContainsAny(path, "*?[") {
		return false
	}
	return slices.ContainsFunc(section, func(of string) bool {
		of = filepath.Clean(of)
		for at := filepath.Clean(path); at != "/"; at = filepath.Dir(at) {
			if matches, _ := filepath.Match(of, at); matches {
				return true
			}
		}
		return false
	})
}

// coversVariable reports whether jobs may set a variable. A fixed value restricts what jobs may set, so nothing covers another value of
// a variable that the section fixes.
func coversVariable(section []string, entry string) bool {
	name, _, isFixed := strings.Cut(entry, "=")
	if value, is := fixedValue(section, name); is && isFixed && value != entry {
		return false
	}
	return slices.Contains(section, entry) || slices.Contains(section, name) || slices.Contains(settable, name)
}

// fixedValue returns the entry that fixes a variable.
func fixedValue(env []string, name string) (entry string, is bool) {
	at := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	if at < 0 {
		return "", false
	}
	return env[at], true
}

func coversUser(section []string, name string) bool {
	return slices.Contains(section, name) || len(section) == 0 && name == current().Username
}

// profile is a set of stricter rules with its key in the configuration.
type profile struct {
	key   string
	rules CommandRules
}

// profilesOf returns the profiles of a job: those of its names and of the user and its roles.
func (c *CommandConfig) profilesOf(jobs, roles []string) (all []profile) {
	for _, of := range []struct {
		kind  string
		names []string
		rules map[string]CommandRules
	}{{"jobs", jobs, c.Jobs}, {"roles", roles, c.Roles}} {
		for _, name := range of.names {
			if rules, has := of.rules[name]; has {
				all = append(all, profile{"exec.profiles." + of.kind + "." + name, rules})
			}
		}
	}
	return all
}

// rulesOf returns the rules of a job: those of the section, made stricter by its profiles. It refuses profiles that have no account in
// common, because an empty list of accounts means that of the server.
func (c *CommandConfig) rulesOf(jobs, roles []string) (CommandRules, error) {
	rules := c.CommandRules
	var choosers []string // profiles that name accounts
	for _, p := range c.profilesOf(jobs, roles) {
		if err := p.rules.checkLinks(&c.CommandRules); err != nil {
			return rules, err
		}
		for _, entry := range p.rules.Env {
			name, _, isFixed := strings.Cut(entry, "=")
			if other, is := fixedValue(rules.Env, name); is && isFixed && other != entry {
				return rules, fmt.Errorf("env: %s sets %s to a value other than another profile of the job", p.key, name)
			}
		}
		rules = rules.narrow(&p.rules)
		if p.rules.Users == nil {
			continue
		}
		choosers = append(choosers, p.key)
		if len(rules.Users) == 0 {
			return rules, fmt.Errorf("user: %s allow no account together; name one that all of them allow", strings.Join(choosers, " and "))
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
		r.Read = both(r.Read, p.Read, coversPattern)
	}
	if p.Write != nil {
		r.Write = both(r.Write, p.Write, coversPattern)
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
