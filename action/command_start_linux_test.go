package action

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action/sandbox"
)

// TestOrdinaryServerRefusesForeignAccounts: it could never run a program as one of them.
func TestOrdinaryServerRefusesForeignAccounts(t *testing.T) {
	asOrdinaryUser(t)
	c := CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin/sh"}, Users: []string{current().Username, "daemon"}, Isolation: sandbox.None}}
	_, _, err := OpenCommands(c)
	if os.Geteuid() == 0 {
		if err != nil {
			t.Error(err)
		}
		c.Users = []string{"nobdy"}
		if _, _, err = OpenCommands(c); err == nil || err.Error() != "configuration: exec.user: there is no account nobdy on this machine; correct the name, or create the account" {
			t.Error(err)
		}
		return
	}
	var refusal *rota.Error
	if !errors.As(err, &refusal) || refusal.Field != "exec.user" || !strings.Contains(refusal.Reason, "programs cannot run as daemon: only a server that runs as root") {
		t.Error(err)
	}
	if got := c.Accounts(); !slices.Equal(got, []string{current().Username}) {
		t.Errorf("the accounts of the server are %v", got)
	}
	c.Users = c.Users[:1]
	if _, _, err := OpenCommands(c); err != nil {
		t.Error(err)
	}
}

// TestStartWarnsOfLimitsThatAreSet: a limit that nothing sets needs no control group.
func TestStartWarnsOfLimitsThatAreSet(t *testing.T) {
	isLimit := func(w string) bool {
		name, _, _ := strings.Cut(w, ":")
		return slices.Contains([]string{"memory", "cpu", "processes"}, name)
	}
	possible, _ := sandbox.Probe(sandbox.None)
	for _, c := range []struct {
		config CommandConfig
		names  []string
	}{
		{CommandConfig{}, nil},
		{CommandConfig{CommandRules: CommandRules{Memory: 4 << 20}}, []string{"memory"}},
		{CommandConfig{Jobs: map[string]CommandRules{"a": {CPU: 1}}, Roles: map[string]CommandRules{"b": {Processes: 5}}}, []string{"cpu", "processes"}},
	} {
		c.config.Allow, c.config.Isolation = []string{"/bin/sh"}, sandbox.None
		_, warnings, err := OpenCommands(c.config)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(possible), func(w string) bool { return !slices.Contains(c.names, strings.Split(w, ":")[0]) })
		if got := slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return !isLimit(w) }); !slices.Equal(got, want) {
			t.Errorf("%+v: %q", c.config, got)
		}
		if !slices.ContainsFunc(warnings, func(w string) bool {
			return strings.HasPrefix(w, "isolation none: programs can do what their account can do")
		}) {
			t.Errorf("no warning of isolation none in %q", warnings)
		}
	}
}

// TestStartProbesIsolationOfProfiles: a profile may need more of the system than the section.
func TestStartProbesIsolationOfProfiles(t *testing.T) {
	var found []sandbox.Isolation
	config := CommandConfig{
		CommandRules: CommandRules{Isolation: sandbox.None}, Jobs: map[string]CommandRules{"a": {}, "b": {Isolation: sandbox.Landlock}}, Roles: map[string]CommandRules{"c": {Isolation: sandbox.Full}},
	}
	_, err := config.probe(func(p sandbox.Policy) ([]string, error) {
		found = append(found, p.Isolation)
		if p.Isolation == sandbox.Full {
			return nil, errors.New("no namespaces")
		}
		return nil, nil
	})
	if err == nil || err.Error() != "configuration: exec.profiles.roles.c.isolation: no namespaces" {
		t.Error(err)
	}
	if want := []sandbox.Isolation{sandbox.None, sandbox.Landlock, sandbox.Full}; !slices.Equal(found, want) {
		t.Errorf("probed %v", found)
	}
}

// TestProbeErrorNamesIsolationOnce: several steps of a probe add the isolation to an error.
func TestProbeErrorNamesIsolationOnce(t *testing.T) {
	config := CommandConfig{CommandRules: CommandRules{Isolation: sandbox.Full}}
	_, err := config.probe(func(sandbox.Policy) ([]string, error) {
		return nil, fmt.Errorf("isolation full: %w", fmt.Errorf("isolation full: no user namespaces: %w", errors.ErrUnsupported))
	})
	if err == nil || !errors.Is(err, errors.ErrUnsupported) || strings.Count(err.Error(), "isolation full") != 1 {
		t.Error(err)
	}
}

// TestStartRefusesFileSystemsOfTheKernel: /proc of the machine shows its processes, and writing there changes the kernel.
func TestStartRefusesFileSystemsOfTheKernel(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/proc/sys", link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rules CommandRules
		want  string
	}{
		{CommandRules{Read: []string{"/proc"}}, "exec.read: /proc is refused: programs would see the processes"},
		{CommandRules{Read: []string{"/proc/sys/kernel"}}, "exec.read: /proc/sys/kernel is refused"},
		{CommandRules{Read: []string{link}}, "exec.read: " + link + ", which leads to /proc/sys, is refused"},
		{CommandRules{Write: []string{link}}, "exec.write: " + link + ", which leads to /proc/sys, is refused"},
		{CommandRules{Write: []string{"/srv/../proc/sys"}}, "exec.write: /srv/../proc/sys is refused: programs could change settings of the kernel"},
		{CommandRules{Write: []string{"/p*"}}, "exec.write: /p* is refused"},
		{CommandRules{Write: []string{"/sys/fs"}}, "exec.write: /sys/fs is refused"},
		{CommandRules{Write: []string{"/dev"}}, "exec.write: /dev is refused"},
		{CommandRules{Memory: 1}, "exec.memory: no program can start with 1 bytes"},
		{CommandRules{Read: []string{"/sys", "/"}, Write: []string{"/srv"}, Memory: 4 << 20}, ""},
	} {
		c.rules.Isolation = sandbox.None
		_, _, err := OpenCommands(CommandConfig{CommandRules: c.rules})
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.rules, err)
		}
	}
}

// TestProgramInPatternOfWriteIsRefused: a program could replace it.
func TestProgramInPatternOfWriteIsRefused(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "data-a", "run")
	if err := os.Mkdir(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := CommandConfig{CommandRules: CommandRules{Isolation: sandbox.Landlock, Allow: []string{program}, Write: []string{filepath.Join(dir, "data-*")}}}
	if err := config.checkPrograms(); err == nil || !strings.Contains(err.Error(), "a program could replace") {
		t.Error(err)
	}
	commands := &Commands{config: config}
	policy, _, err := commands.policy(&Exec{Command: program}, config.CommandRules)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Dir(program)}; !slices.Equal(policy.Write, want) || !slices.Equal(policy.Shared, want) {
		t.Errorf("programs can change %q, %q", policy.Write, policy.Shared)
	}
}

// TestPatternCoversPathsOfProfiles: the default of read has the pattern /lib*.
func TestPatternCoversPathsOfProfiles(t *testing.T) {
	section := CommandRules{Write: []string{"/srv/*"}}
	profile := CommandRules{Read: []string{"/usr", "/lib64", "/lib/x", "/lib*", "/srv/a"}, Write: []string{"/srv/a", "/srv/b/c"}}
	config := CommandConfig{CommandRules: section, Jobs: map[string]CommandRules{"a": profile}}
	if err := config.Check(); err != nil {
		t.Error(err)
	}
	full := config.withDefaults()
	rules := full.CommandRules.narrow(&profile)
	if want := []string{"/srv/a", "/srv/b/c"}; !slices.Equal(rules.Write, want) || !slices.Contains(rules.Read, "/lib64") || slices.Contains(rules.Read, "/etc") {
		t.Errorf("%q %q", rules.Read, rules.Write)
	}
	for _, profile := range []CommandRules{{Read: []string{"/home"}}, {Read: []string{"/li*"}}, {Write: []string{"/srv"}}, {Write: []string{"/srv/*/a"}}} {
		config.Jobs["a"] = profile
		if err := config.Check(); err == nil {
			t.Errorf("%+v is allowed", profile)
		}
	}
	config = CommandConfig{CommandRules: CommandRules{Allow: []string{"/opt/*"}}, Jobs: map[string]CommandRules{"a": {Allow: []string{"/opt/a"}}}}
	if err := config.Check(); err == nil {
		t.Error("allow has no patterns")
	}
}

func TestStartNamesPathsThatLetRunsFail(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil { // the umask does not apply
		t.Fatal(err)
	}
	program := filepath.Join(open, "run")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rules CommandRules
		want  string
	}{
		{CommandRules{}, "exec.allow: no program is allowed"},
		{CommandRules{Allow: []string{"/bin/sh", "/opt/gone"}}, "exec.allow: /opt/gone does not exist: until it exists every job that names it fails"},
		{CommandRules{Allow: []string{program}}, "other users can write it"},
		{CommandRules{Allow: []string{open}}, "other users can write it"},
		{CommandRules{Allow: []string{"/bin"}, Write: []string{"/srv/gone"}}, "exec.write: /srv/gone does not exist: until it exists every run fails"},
		{CommandRules{Allow: []string{"/bin"}, Read: []string{"/srv/gone", "/lib*", "/no*"}}, "exec.read: /srv/gone does not exist: programs run without it"},
		{CommandRules{Allow: []string{"/bin"}, Dir: "/srv/gone"}, "exec.dir: /srv/gone does not exist: until it exists every run that names no dir fails"},
		{CommandRules{Allow: []string{"/bin"}}, ""},
	} {
		c.rules.Isolation = sandbox.Landlock
		warnings, err := (&CommandConfig{CommandRules: c.rules}).checkPaths()
		if err != nil || (c.want == "") != (len(warnings) == 0) || c.want != "" && !strings.Contains(strings.Join(warnings, "\n"), c.want) {
			t.Errorf("%+v: %q, %v", c.rules, warnings, err)
		}
	}
	config := CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin/sh /x/bin"}, Isolation: sandbox.None}}
	if _, _, err := OpenCommands(config); err == nil || !strings.Contains(err.Error(), "write a comma between paths: [/bin/sh, /x/bin]") {
		t.Error(err)
	}
	config = CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin"}}, Jobs: map[string]CommandRules{"a": {Allow: []string{"/bin/gone"}}}}
	if warnings, err := config.checkPaths(); err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "exec.profiles.jobs.a.allow: /bin/gone") {
		t.Error(warnings, err)
	}
}
