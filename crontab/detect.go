package crontab

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// detectForm returns the probable form of a crontab, and the reason for it.
func detectForm(name string, lines []line) (Form, string) {
	name = strings.ReplaceAll(name, `\`, "/")
	switch {
	case strings.HasSuffix("/"+name, "/etc/crontab"):
		return FormSystem, "the file is /etc/crontab"
	case path.Base(path.Dir(name)) == "cron.d":
		return FormSystem, "the file is in cron.d"
	}
	entries, known := 0, 0
	named := false
	for _, l := range lines {
		if l.text[0] == '#' {
			named = named || userColumn.MatchString(l.text)
			continue
		}
		rest, is := afterTimes(l.text)
		if !is {
			continue
		}
		entries++
		user, command := cutWord(rest)
		switch {
		case !userName.MatchString(user) || command == "" || command[0] == '-' && !bsdOptions.MatchString(command): // an option: user is a program
			return FormUser, "not every line names a user"
		case slices.Contains(accounts, user):
			known++
		}
	}
	switch {
	case entries == 0:
		return FormUser, "nothing indicates a user column"
	case known == entries:
		return FormSystem, "every line names a well-known system user"
	case named:
		return FormSystem, "a comment names the user column"
	}
	return FormUser, "nothing indicates a user column"
}

// userColumn matches the comment above the entries in which distributions name the columns.
var userColumn = regexp.MustCompile(`(?i)\buser(-?name)?\s+command\b`)

// accounts are users that own crontab lines on many systems and are unlikely to be names of programs.
var accounts = []string{
	"root", "www-data", "nobody", "daemon", "apache", "nginx", "postgres", "mysql", "munin", "logcheck", "smmsp", "operator", "_postgresql",
}

// afterTimes returns the text after the times of a line that runs a command.
func afterTimes(text string) (rest string, is bool) {
	if _, _, setting := cutSetting(text); setting {
		return "", false
	}
	count := 5
	if text[0] == '@' {
		count = 1
	}
	for range count {
		word := ""
		if word, text = cutWord(text); word == "" {
			return "", false
		}
	}
	return text, true
}

// noteUserNames adds a note to entries of a detected user crontab whose command begins with the name of a known account.
// If that word is the user, the shell would try to run a program of that name.
func (r *parser) noteUserNames(given Form) {
	if r.Form != FormUser || given == FormUser {
		return
	}
	for _, e := range r.Entries {
		if word, rest := cutWord(e.Command); rest != "" && slices.Contains(accounts, word) {
			r.note(e.Line, "the command begins with %s; if that is the user, use --system", word)
		}
	}
}
