package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/crontab"
)

func newExecCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "exec", Short: "Configure the programs that a server runs", Args: cobra.ArbitraryArgs,
		DisableFlagsInUseLine: true, SuggestionsMinimumDistance: 2, RunE: unknownSubcommand,
	}
	cmd.AddCommand(newExecSetupCommand(a))
	return cmd
}

func newExecSetupCommand(a *app) *cobra.Command {
	var files []string
	var o crontabOptions
	cmd := &cobra.Command{
		Use: "setup --from-crontab FILE", Short: "Propose the section exec of the configuration for crontabs", Args: noArgs(),
		Long: `Read crontabs and print a section exec for the configuration file of the server, so that rota import crontab can run their
lines. Nothing is written and no server is needed. The paths are guesses from the words of the commands: check each
line, since programs can read and change what the section names. The server reads its file at start. A file has one
section exec: name all crontabs in one call, or merge the proposal into a section that exists.`,
		Example: `  rota exec setup --from-crontab /etc/crontab >> rota.yaml
  rota exec setup --from-crontab /etc/crontab --from-crontab /etc/cron.d/backup
  crontab -l | rota exec setup --from-crontab -`,
		RunE: func(*cobra.Command, []string) error {
			if len(files) == 0 {
				return usagef("name a crontab, such as --from-crontab /etc/crontab", "--from-crontab is missing")
			}
			p := &execProposal{}
			for _, file := range files {
				if err := o.check(a.host, file); err != nil {
					return err
				}
				text, err := a.fileText(file)
				if err != nil {
					return err
				}
				read := crontab.Parse(text, crontab.Config{Name: file, Form: o.form()})
				p.add(&read, fileName(file))
			}
			if own, err := user.Current(); err == nil && os.Geteuid() != 0 {
				p.onlyAccount(own.Username)
			}
			p.merge()
			p.onlyExisting(func(path string) bool {
				_, err := os.Stat(path)
				return !errors.Is(err, fs.ErrNotExist)
			})
			p.print(a.out)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&files, "from-crontab", nil, "crontab `FILE`; - is standard input. Repeat it for several")
	cmd.Flags().BoolVar(&o.system, "system", false, "lines have a user field, as in /etc/crontab (default: guessed)")
	cmd.Flags().BoolVar(&o.user, "user", false, "lines have no user field, as in the output of crontab -l (default: guessed)")
	return cmd
}

// execProposal is a section exec for crontabs.
type execProposal struct {
	shells, users, env, read, write []string
	network                         []string // words that need a network
	foreign                         []string // users of the crontabs that this account cannot run programs as
	missing                         []string // paths that do not exist
	files                           []string
	lines, refused                  int
}

// pathWord finds absolute paths in a command.
var (
	pathWord    = regexp.MustCompile(`(?:^|[\s='"(:])(>{0,2}\s*)(/[A-Za-z0-9_.@%+,/-]+)`)
	writtenWord = regexp.MustCompile(`>>?\s*(/[A-Za-z0-9_.@%+,/-]+)`)
	urlWord     = regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://[^\s'"<>|;]*`)
	networkWord = regexp.MustCompile(`\b(curl|wget|ssh|scp|sftp|rsync|psql|pg_dump|mysql|mysqldump|mail|sendmail|certbot|apt|apt-get|dnf|git|aws|ping)\b|https?://`)
)

// isSystemPath reports whether programs can read a path without configuration, or have it for themselves.
func isSystemPath(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc", "/dev", "/proc", "/tmp"}, func(dir string) bool {
		return isWithin(path, dir)
	})
}

func isWithin(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// narrowest is what a proposal names for a path: its directory, or the path itself if it is a directory or if its directory contains the
// files of others, as /root and /srv do.
func narrowest(path, command string) string {
	dir := filepath.Dir(filepath.Clean(path))
	isWide := strings.Count(dir, "/") < 2 || filepath.Dir(dir) == "/home"
	if isWide || strings.HasSuffix(path, "/") || regexp.MustCompile(`\bcd\s+`+regexp.QuoteMeta(path)+`(\s|;|&|$)`).MatchString(command) {
		return filepath.Clean(path)
	}
	return dir
}

// add adds the commands of a crontab.
func (p *execProposal) add(read *crontab.Crontab, file string) {
	p.files, p.lines, p.refused = append(p.files, file), p.lines+len(read.Entries), p.refused+len(read.Refused)
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
		command := urlWord.ReplaceAllLiteralString(e.Command, "") // the path of a URL is none of this machine
		for _, found := range writtenWord.FindAllStringSubmatch(command, -1) {
			if !isSystemPath(found[1]) {
				p.write = append(p.write, narrowest(found[1], e.Command))
			}
		}
		for _, found := range pathWord.FindAllStringSubmatch(command, -1) {
			if strings.TrimSpace(found[1]) == "" && !isSystemPath(found[2]) && filepath.Clean(found[2]) != "/" {
				p.read = append(p.read, narrowest(found[2], e.Command))
			}
		}
		p.network = append(p.network, networkWord.FindAllString(e.Command, -1)...)
	}
}

// onlyAccount keeps the account of a server that is not root.
func (p *execProposal) onlyAccount(own string) {
	for _, name := range p.users {
		if name != own {
			p.foreign = append(p.foreign, name)
		}
	}
	p.users = slices.DeleteFunc(p.users, func(name string) bool { return name != own })
}

// merge sorts the lists and removes repeated entries, and paths that others contain.
func (p *execProposal) merge() {
	for _, list := range []*[]string{&p.shells, &p.users, &p.foreign, &p.env, &p.read, &p.write, &p.network} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	contained := func(path string, dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return path != dir && isWithin(path, dir) })
	}
	write, read := slices.Clone(p.write), slices.Clone(p.read)
	p.write = slices.DeleteFunc(p.write, func(path string) bool { return contained(path, write) })
	p.read = slices.DeleteFunc(p.read, func(path string) bool {
		return contained(path, read) || contained(path, p.write) || slices.Contains(p.write, path)
	})
}

// onlyExisting keeps the paths that exist. A path of write that does not exist lets every run fail.
func (p *execProposal) onlyExisting(exists func(path string) bool) {
	for _, list := range []*[]string{&p.read, &p.write} {
		for _, path := range *list {
			if !exists(path) && !slices.Contains(p.missing, path) {
				p.missing = append(p.missing, path)
			}
		}
		*list = slices.DeleteFunc(*list, func(path string) bool { return !exists(path) })
	}
	slices.Sort(p.missing)
}

func (p *execProposal) print(w io.Writer) {
	fmt.Fprintf(w, "# Proposed for the %s of %s", plural(p.lines, "command", "commands"), sanitize(strings.Join(p.files, ", ")))
	if p.refused > 0 {
		fmt.Fprintf(w, " (without %s that cannot be imported)", plural(p.refused, "line", "lines"))
	}
	fmt.Fprint(w, ". Check every path before you use it.\nexec:\n")
	fmt.Fprintf(w, "  # Crontab lines run by a shell: who may create exec jobs can run every program that read allows.\n  allow: %s\n", yamlList(orElse(p.shells, "/bin/sh")))
	if len(p.users) > 0 {
		fmt.Fprintf(w, "  # The users of the crontab; the first is the default. Jobs can name no others. Other users than its own need a server that runs as root.\n  user: %s\n", yamlList(p.users))
	}
	if len(p.foreign) > 0 {
		fmt.Fprintf(w, "  # Not proposed: %s. Only a server that runs as root can run programs as these users; for one, run this command as root.\n", sanitize(strings.Join(p.foreign, ", ")))
	}
	fmt.Fprintf(w, "  # What programs read and execute. The data directory of the server is always hidden.\n  read: %s\n",
		yamlList(append([]string{"/usr", "/bin", "/sbin", "/lib*", "/etc"}, p.read...)))
	if len(p.write) > 0 {
		fmt.Fprintf(w, "  # Where the commands redirect output to. /tmp is private for each run.\n  write: %s\n", yamlList(p.write))
	} else {
		fmt.Fprint(w, "  # Directories that programs change; /tmp is private for each run.\n  # write: [/var/backups]\n")
	}
	if len(p.missing) > 0 {
		fmt.Fprintf(w, "  # Not proposed, because they do not exist on this machine: %s. Lines that need them fail; create them and add them to read or write.\n", sanitize(strings.Join(p.missing, ", ")))
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
