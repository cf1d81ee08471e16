package node

import (
	"log/slog"
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
  output: 1TiB
  isolation: landlock
  profiles:
    jobs:
      nightly: {network: false, memory: 4MiB, allow: []}
    roles:
      interns: {isolation: full}
`), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	want := &action.CommandConfig{
		CommandRules: action.CommandRules{
			Allow: []string{"/usr/local/bin", "/bin/sh"}, Read: []string{}, Write: []string{"/var/backups"}, Env: []string{"TARGET", "LANG=de_DE.UTF-8"},
			Users: []string{"backup", "www-data"}, Dir: "/srv", Network: new(true), Memory: 512 << 20, CPU: 1.5, Processes: 50, Output: 1 << 40, Isolation: sandbox.Landlock,
		},
		Jobs:  map[string]action.CommandRules{"nightly": {Network: new(false), Memory: 4 << 20, Allow: []string{}}},
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
		"exec:\n  allow: [bin]":          `test.yaml:2: exec.allow: "bin" is not an absolute path; write absolute paths, such as [/usr/local/bin/backup]`,
		"exec:\n  dir: rel":              `test.yaml:2: exec.dir: "rel" is not an absolute path; write an absolute path, such as /srv`,
		"exec:\n  read: [a]":             `test.yaml:2: exec.read: "a" is not an absolute path; write absolute paths`,
		"exec:\n  write: [./a]":          `test.yaml:2: exec.write: "./a" is not an absolute path; write absolute paths`,
		"exec:\n  read: ['/srv/[a']":     `test.yaml:2: exec.read: "/srv/[a" is not a pattern`,
		"exec:\n  allow: [{a: b}]":       "test.yaml:2: exec.allow: the value is not a list",
		"exec:\n  memory: 10M":           "test.yaml:2: exec.memory: ",
		"exec:\n  memory: 1":             "test.yaml:2: exec.memory: no program can start with 1 bytes; write a size from 4MiB",
		"exec:\n  write: [/dev/shm]":     "test.yaml:2: exec.write: /dev/shm is refused: ",
		"exec:\n  memory: [1KiB, 2KiB]":  "it has 2 values",
		"exec:\n  network: yes":          "test.yaml:2: exec.network: ",
		"exec:\n  env: [LD_PRELOAD]":     "test.yaml:2: exec.env: jobs can never set LD_PRELOAD",
		"exec:\n  isolation: some":       "test.yaml:2: exec.isolation: unknown value \"some\"; use full, landlock or none",
		"exec:\n  profiles: {users: {}}": "exec.profiles.users",
		"exec:\n  allow: [/bin]\n  profiles:\n    jobs:\n      a:\n        allow: [/sbin]": "test.yaml:6: exec.profiles.jobs.a.allow: /sbin is not allowed",
		"exec:\n  profiles:\n    roles:\n      ops:\n        network: true":                "test.yaml:5: exec.profiles.roles.ops.network: exec.network is false",
		"exec:\n  memory: 5MiB\n  profiles: {roles: {ops: {memory: 6MiB}}}":                "exec.profiles.roles.ops.memory: it is higher",
		"exec:\n  profiles: {jobs: {a: {isolation: none}}}":                                "none is weaker than full",
		"exec:\n  user: backup\n  profiles:\n    jobs:\n      a: {user: root}":             "exec.profiles.jobs.a.user: root is not allowed",
		"exec:\n  user: []": "test.yaml:2: exec.user: the list names no account",
		"exec:\n  user: backup\n  profiles:\n    jobs:\n      a: {user: []}":                "test.yaml:5: exec.profiles.jobs.a.user: the list names no account",
		"exec:\n  write: [/srv/a]\n  profiles:\n    jobs:\n      a: {write: [/srv/a/../b]}": "exec.profiles.jobs.a.write: ",
	} {
		_, err := Load(configFile(t, text), noEnv)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// TestOpenCommandsNamesTheLine: what only the start finds has a line, too.
func TestOpenCommandsNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"exec:\n  isolation: none\n  allow: [/bin/sh]\n  user: nobdy":        "test.yaml:4: exec.user: ",
		"exec:\n  isolation: none\n  allow: [/bin/sh /x/bin]":                "test.yaml:3: exec.allow: /bin/sh /x/bin does not exist; write a comma",
		"exec:\n  isolation: none\n  write: [/usr]\n  allow: [/usr/bin/env]": "",
		"exec:\n  allow: [/opt]\n  isolation: landlock\n  write: [/opt/]":    "test.yaml:4: exec.write: /opt/ contains /opt of allow",
	} {
		c, err := Load(configFile(t, text), noEnv)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.OpenCommands(slog.New(slog.DiscardHandler))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v", text, err)
		}
	}
}
