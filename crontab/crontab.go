package crontab

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Limits on what is read.
const (
	TextMax     = 2 << 20   // bytes of a crontab
	LinesMax    = 10_000    // lines of one, as in cronie
	LineMax     = 128 << 10 // bytes of a line, as in cronie; older crons cut commands after 998
	SettingsMax = 256       // variables in force at once: each entry has them all
	SettingMax  = 16 << 10  // bytes of their names and values together, which are written out for each entry
)

// Form says whether lines name the user that runs them.
type Form string

// The forms.
const (
	FormGuess  Form = ""
	FormUser   Form = "user"   // what crontab -l prints
	FormSystem Form = "system" // /etc/crontab and the files of /etc/cron.d, with a column for the user
)

// Config is what is known of a crontab beside its text.
type Config struct {
	Name string // of the file, by which the form is guessed; may be empty
	Form Form
}

// Crontab is what stands in a crontab, each part in the order of its lines.
type Crontab struct {
	Form    Form
	Why     string // what the form was guessed from; empty if it was given
	Entries []Entry
	Refused []Refusal
	Notes   []Note
}

// Entry is one line that runs something.
//
// The days of Times mean to Rota what they mean to cron. Cron runs a line on days that match both day fields if one of
// them begins with a star, */2 too, and else on days that match either; Rota takes a field that leaves no day out for a
// star, however it is written, and nothing else. A line on which they disagree is refused.
type Entry struct {
	Line     int
	Times    string // five fields with single spaces between them, or a name such as @daily
	User     string // who runs it; empty in a user's crontab
	Command  string // for the shell
	Input    string // what the command reads; HasInput tells an empty one from none
	HasInput bool
	Settings []Setting // what its environment has beside what cron gives, by name
	Shell    string    // empty: /bin/sh
	Zone     string    // of CRON_TZ; empty: that of the machine
	MailTo   string    // who would be sent its output; empty: nobody said, or nobody is
}

// Setting is a variable of an entry's environment.
type Setting struct{ Name, Value string }

// Refusal is a line that is not taken over.
type Refusal struct {
	Line   int
	Found  string // what stands there, cut; may be empty
	Reason string
	Remedy string
}

// Note says what is taken over otherwise than cron would, or might surprise. Line 0 is the whole file.
type Note struct {
	Line int
	Text string
}

// Parse reads a crontab.
func Parse(text []byte, config Config) Crontab {
	r := reader{Crontab: Crontab{Form: config.Form}}
	lines := r.split(text)
	if r.Form == FormGuess {
		r.Form, r.Why = guess(config.Name, lines)
	}
	for _, l := range lines {
		r.line(l)
	}
	r.warnOfUsers(config.Form)
	return r.Crontab
}

// reader is a crontab as it is read: what stands there so far, and the settings in force.
type reader struct {
	Crontab
	settings map[string]string
	weight   int       // bytes of the settings
	inForce  []Setting // the settings that a command has, until one changes
}

func (r *reader) refuse(line int, found, reason, remedy string) {
	if found != "" {
		found = shown(found)
	}
	r.Refused = append(r.Refused, Refusal{Line: line, Found: found, Reason: reason, Remedy: remedy})
}

func (r *reader) note(line int, format string, args ...any) {
	r.Notes = append(r.Notes, Note{Line: line, Text: fmt.Sprintf(format, args...)})
}

// shownMax bounds how much of a line a message repeats.
const shownMax = 60

// shown is a text in quotes, cut, with nothing in it that a terminal would obey.
func shown(text string) string {
	if len(text) > shownMax {
		cut := shownMax
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		return strconv.Quote(text[:cut]) + "…"
	}
	return strconv.Quote(text)
}
