package crontab

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// guess says which form a crontab has, and why that is thought.
func guess(name string, lines []line) (Form, string) {
	name = strings.ReplaceAll(name, `\`, "/")
	switch {
	case strings.HasSuffix("/"+name, "/etc/crontab"):
		return FormSystem, "it is called /etc/crontab"
	case path.Base(path.Dir(name)) == "cron.d":
		return FormSystem, "it stands in cron.d"
	}
	entries, known := 0, 0
	named := false
	for _, l := range lines {
		if l.text[0] == '#' {
			named = named || userColumn.MatchString(l.text)
			continue
		}
		rest, is := behindTimes(l.text)
		if !is {
			continue
		}
		entries++
		user, command := cutWord(rest)
		switch {
		case !userName.MatchString(user) || command == "":
			return FormUser, "not every line names a user"
		case slices.Contains(accounts, user):
			known++
		}
	}
	switch {
	case entries == 0:
		return FormUser, "nothing in it says otherwise"
	case known == entries:
		return FormSystem, "every line names a user that systems have"
	case named:
		return FormSystem, "a comment names the column of the user"
	}
	return FormUser, "nothing in it says otherwise"
}

// userColumn matches the comment that distributions put over the times.
var userColumn = regexp.MustCompile(`(?i)\buser(-?name)?\s+command\b`)

// accounts are users that have crontab lines on many systems and are unlikely to be programs.
var accounts = []string{
	"root", "www-data", "nobody", "daemon", "apache", "nginx", "postgres", "mysql", "munin", "logcheck", "smmsp", "operator", "_postgresql",
}

// behindTimes is what follows the times of a line that runs something.
func behindTimes(text string) (rest string, is bool) {
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

// warnOfUsers says that a user's crontab looks as if it had a column for the user: then the shell would be told to run
// a program called root.
func (r *reader) warnOfUsers(given Form) {
	if r.Form != FormUser || given == FormUser {
		return
	}
	for _, e := range r.Entries {
		if word, rest := cutWord(e.Command); rest != "" && slices.Contains(accounts, word) {
			r.note(e.Line, "the command begins with %s; if that is the user, read the file with --system", word)
		}
	}
}
