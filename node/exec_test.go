package node

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/action/sandbox"
)

func TestExecSection(t *testing.T) {
	c, err := Load(configFile(t, `exec:
  allow: [/usr/local/bin, /bin/sh]
  read: []
  write: /var/backups
  env: [TARGET, "LANG=de_DE.UTF-8"]
  user: [backup, www-data]
  dir: /srv
  network: true
  memory: 512MiB
  cpu: 1.5
  processes: 50
  output: 1MiB
  isolation: landlock
  profiles:
    jobs:
      nightly: {network: false, memory: 1MiB, allow: []}
    roles:
      interns: {isolation: full}
`), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	want := &action.CommandConfig{
		CommandRules: action.CommandRules{
			Allow: []string{"/usr/local/bin", "/bin/sh"}, Read: []string{}, Write: []string{"/var/backups"}, Env: []string{"TARGET", "LANG=de_DE.UTF-8"},
			Users: []string{"backup", "www-data"}, Dir: "/srv", Network: new(true), Memory: 512 << 20, CPU: 1.5, Processes: 50, Output: 1 << 20, Isolation: sandbox.Landlock,
		},
		Jobs:  map[string]action.CommandRules{"nightly": {Network: new(false), Memory: 1 << 20, Allow: []string{}}},
		Roles: map[string]action.CommandRules{"interns": {Isolation: sandbox.Full}},
	}
	if !reflect.DeepEqual(c.Exec, want) {
		t.Errorf("%+v", c.Exec)
	}
	if c, err := Load(configFile(t, "workers: 2"), noEnv); err != nil || c.Exec != nil {
		t.Errorf("without a section: %+v, %v", c.Exec, err)
	}
	if c, err := Load(configFile(t, "exec:\n"), noEnv); err != nil || c.Exec == nil {
		t.Errorf("an empty section: %+v, %v", c.Exec, err)
	}
}

func TestExecSectionErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"exec: full":                     "test.yaml:1: exec: this is a section",
		"exec:\n  alow: [/bin]":          "did you mean allow?",
		"exec:\n  allow: [bin]":          "test.yaml:",
		"exec:\n  allow: [{a: b}]":       "test.yaml:2: exec.allow: the value is not a list",
		"exec:\n  memory: 10M":           "test.yaml:2: exec.memory: ",
		"exec:\n  memory: [1KiB, 2KiB]":  "it has 2 values",
		"exec:\n  network: yes":          "test.yaml:2: exec.network: ",
		"exec:\n  env: [LD_PRELOAD]":     "test.yaml:2: exec.env: jobs can never set LD_PRELOAD",
		"exec:\n  isolation: some":       "unknown value \"some\"",
		"exec:\n  profiles: {users: {}}": "exec.profiles.users",
		"exec:\n  allow: [/bin]\n  profiles:\n    jobs:\n      a:\n        allow: [/sbin]":  "test.yaml:6: exec.jobs.a.allow: /sbin is not allowed",
		"exec:\n  profiles:\n    roles:\n      ops:\n        network: true":                 "test.yaml:5: exec.roles.ops.network: exec.network is false",
		"exec:\n  memory: 1MiB\n  profiles: {roles: {ops: {memory: 2MiB}}}":                 "exec.roles.ops.memory: it is higher",
		"exec:\n  profiles: {jobs: {a: {isolation: none}}}":                                 "none is weaker than full",
		"exec:\n  user: backup\n  profiles:\n    jobs:\n      a: {user: root}":              "exec.jobs.a.user: root is not allowed",
		"exec:\n  write: [/srv/a]\n  profiles:\n    jobs:\n      a: {write: [/srv/a/../b]}": "exec.jobs.a.write: ",
	} {
		_, err := Load(configFile(t, text), noEnv)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v", text, err)
		}
	}
}
