package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/crontab"
)

func newExecCommand(a *app) *cobra.Command {
	return newParentCommand("exec", "Configure the programs that a server runs", newExecSetupCommand(a))
}

func newExecSetupCommand(a *app) *cobra.Command {
	file, system, isUser := "", false, false
	cmd := &cobra.Command{
		Use: "setup --from-crontab FILE", Short: "Propose the section exec of the configuration for a crontab", Args: cobra.NoArgs,
		Long: `Read a crontab and print a section exec for the configuration file of the server, so that rota import crontab can run its
lines. Nothing is written and no server is needed. The paths are guesses from the words of the commands: check each
line, since programs can read and change what the section names. The server reads its file at start.`,
		Example: `  rota exec setup --from-crontab /etc/crontab >> rota.yaml
  crontab -l | rota exec setup --from-crontab -`,
		RunE: func(*cobra.Command, []string) error {
			if file == "" {
				return usagef("name a crontab, such as --from-crontab /etc/crontab", "--from-crontab is missing")
			}
			o := crontabOptions{system: system, user: isUser}
			if err := o.check(a.host, file); err != nil {
				return err
			}
			text, err := a.fileText(file)
			if err != nil {
				return err
			}
			read := crontab.Parse(text, crontab.Config{Name: file, Form: o.form()})
			proposeExec(&read).print(a.out, fileName(file))
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "from-crontab", "", "crontab `FILE`; - is standard input")
	cmd.Flags().BoolVar(&system, "system", false, "lines have a user field, as in /etc/crontab (default: guessed)")
	cmd.Flags().BoolVar(&isUser, "user", false, "lines have no user field, as in the output of crontab -l (default: guessed)")
	return cmd
}

// execProposal is a section exec for a crontab.
type execProposal struct {
	shells, users, env, read, write []string
	network                         []string // words that need a network
	lines, refused                  int
}

// pathWord finds absolute paths in a command.
var (
	pathWord    = regexp.MustCompile(`(?:^|[\s='"(:])(>{0,2}\s*)(/[A-Za-z0-9_.@%+,/-]+)`)
	writtenWord = regexp.MustCompile(`>>?\s*(/[A-Za-z0-9_.@%+,/-]+)`)
	networkWord = regexp.MustCompile(`\b(curl|wget|ssh|scp|sftp|rsync|psql|pg_dump|mysql|mysqldump|mail|sendmail|certbot|apt|apt-get|dnf|git|aws|ping)\b|https?://`)
)

// isSystemPath reports whether programs can read a path without configuration, or have it for themselves.
func isSystemPath(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc", "/dev", "/proc", "/tmp", "/run"}, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}

func proposeExec(read *crontab.Crontab) *execProposal {
	p := &execProposal{lines: len(read.Entries), refused: len(read.Refused)}
	for _, e := range read.Entries {
		p.shells = append(p.shells, cmp.Or(e.Shell, "/bin/sh"))
		if e.User != "" {
			p.users = append(p.users, e.User)
		}
		for _, s := range e.Settings {
			if all, refused := action.IsSettable(s.Name); !all && !refused {
				p.env = append(p.env, s.Name)
			}
		}
		for _, found := range writtenWord.FindAllStringSubmatch(e.Command, -1) {
			if dir := filepath.Dir(found[1]); !isSystemPath(dir) && dir != "/" {
				p.write = append(p.write, dir)
			}
		}
		for _, found := range pathWord.FindAllStringSubmatch(e.Command, -1) {
			if dir := filepath.Dir(found[2]); strings.TrimSpace(found[1]) == "" && !isSystemPath(found[2]) && dir != "/" {
				p.read = append(p.read, dir)
			}
		}
		p.network = append(p.network, networkWord.FindAllString(e.Command, -1)...)
	}
	for _, list := range []*[]string{&p.shells, &p.users, &p.env, &p.read, &p.write, &p.network} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	p.read = slices.DeleteFunc(p.read, func(dir string) bool { return slices.Contains(p.write, dir) })
	return p
}

func (p *execProposal) print(w io.Writer, file string) {
	fmt.Fprintf(w, "# Proposed for the %s of %s", plural(p.lines, "command", "commands"), sanitize(file))
	if p.refused > 0 {
		fmt.Fprintf(w, " (without %s that cannot be imported)", plural(p.refused, "line", "lines"))
	}
	fmt.Fprint(w, ". Check every path before you use it.\nexec:\n")
	fmt.Fprintf(w, "  # Crontab lines run by a shell: who may create exec jobs can run every program that read allows.\n  allow: %s\n", yamlList(orElse(p.shells, "/bin/sh")))
	if len(p.users) > 0 {
		fmt.Fprintf(w, "  # The users of the crontab; the first is the default. Other users than its own need a server that runs as root.\n  user: %s\n", yamlList(p.users))
	}
	fmt.Fprintf(w, "  # What programs read and execute. The data directory of the server is always hidden.\n  read: %s\n",
		yamlList(append([]string{"/usr", "/bin", "/sbin", "/lib*", "/etc"}, p.read...)))
	if len(p.write) > 0 {
		fmt.Fprintf(w, "  # The directories that the commands redirect output to. /tmp is private for each run.\n  write: %s\n", yamlList(p.write))
	} else {
		fmt.Fprint(w, "  # Directories that programs change; /tmp is private for each run.\n  # write: [/var/backups]\n")
	}
	if len(p.env) > 0 {
		fmt.Fprintf(w, "  # Variables that the crontab sets, besides PATH, HOME, LANG, TZ, SHELL and LOGNAME.\n  env: %s\n", yamlList(p.env))
	}
	if len(p.network) > 0 {
		fmt.Fprintf(w, "  # These seem to need a network: %s\n  network: true\n", sanitize(strings.Join(p.network, ", ")))
	} else {
		fmt.Fprint(w, "  network: false\n")
	}
	fmt.Fprint(w, "  # Limits of each run; without them a program can use up the machine.\n  memory: 1GiB\n  processes: 100\n  isolation: full\n")
}

func orElse(list []string, one string) []string {
	if len(list) == 0 {
		return []string{one}
	}
	return list
}

// yamlList writes texts as a list of YAML.
func yamlList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
