package crontab

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Limits of a crontab.
const (
	TextMax     = 2 << 20   // bytes of a crontab
	LinesMax    = 10_000    // lines of a crontab, as in cronie
	LineMax     = 128 << 10 // bytes of a line, as in cronie; older crons truncate commands after 998
	SettingsMax = 256       // variables set at the same time; each entry has a copy of all
	SettingMax  = 16 << 10  // bytes of their names and values together, which each entry repeats
)

// Form states whether lines name the user that runs them.
type Form string

// The forms.
const (
	FormDetect Form = ""
	FormUser   Form = "user"   // what crontab -l prints
	FormSystem Form = "system" // /etc/crontab and the files of /etc/cron.d, with a column for the user
)

// Config is what Parse needs besides the text of a crontab.
type Config struct {
	Name string // file name, from which the form is detected; may be empty
	Form Form
}

// Crontab is the content of a crontab, each part in the order of its lines.
type Crontab struct {
	Form    Form
	Why     string // how the form was detected; empty if it was given
	Entries []Entry
	Refused []Refusal
	Notes   []Note
}

// Entry is one line that runs a command.
//
// Times selects the same days in Rota as in cron. Cron runs a line on days that match both day fields if one of them
// begins with a star, also as */2, and else on days that match either. Rota treats a field as a star if it contains every
// day, in any spelling. Parse refuses a line for which the two rules select different days.
type Entry struct {
	Line     int
	Times    string    // five fields separated by single spaces, or a name such as @daily
	User     string    // user that runs the command; empty in a user's crontab
	Command  string    // shell command
	Input    string    // standard input of the command
	HasInput bool      // distinguishes an empty input from none
	Settings []Setting // environment variables that the crontab sets, sorted by name
	Shell    string    // value of SHELL; empty means /bin/sh
	Zone     Setting   // CRON_TZ; an empty value means the zone of the machine
	MailTo   Setting   // MAILTO; the value is empty if the crontab does not set it or disables mail
}

// Setting is a variable of an entry's environment.
type Setting struct {
	Name, Value string
	Line        int // line that sets it
}

// Refusal is a line that Rota cannot import. Line 0 is the whole file.
type Refusal struct {
	Line   int
	Found  string // the invalid text, quoted and shortened; may be empty
	Reason string
	Remedy string
}

// Note describes a difference between cron and Rota, or a possible mistake. Line 0 is the whole file.
type Note struct {
	Line int
	Text string
}

// Parse parses a crontab. It never fails: lines that it cannot import are in Refused.
func Parse(text []byte, config Config) Crontab {
	r := parser{Crontab: Crontab{Form: config.Form}}
	lines := r.split(text)
	if r.Form == FormDetect {
		r.Form, r.Why = detectForm(config.Name, lines)
	}
	for _, l := range lines {
		r.parseLine(l)
	}
	r.noteUserNames(config.Form)
	return r.Crontab
}

// parser is the state of Parse: the result so far, and the current settings.
type parser struct {
	Crontab
	settings      map[string]Setting
	settingBytes  int       // bytes of all names and values in settings
	entrySettings []Setting // cached result of environment; nil after a setting changed
	backslash     int       // last line with a command that ends with a backslash; 0 if there is none
}

func (r *parser) refuse(line int, found, reason, remedy string) {
	if found != "" {
		found = excerpt(found)
	}
	r.Refused = append(r.Refused, Refusal{Line: line, Found: found, Reason: reason, Remedy: remedy})
}

func (r *parser) note(line int, format string, args ...any) {
	r.Notes = append(r.Notes, Note{Line: line, Text: fmt.Sprintf(format, args...)})
}

// excerptMax limits how many bytes of a line a message repeats.
const excerptMax = 60

// excerpt returns a text shortened and quoted, with control characters escaped.
func excerpt(text string) string {
	if len(text) > excerptMax {
		cut := excerptMax
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		return strconv.Quote(text[:cut]) + "…"
	}
	return strconv.Quote(text)
}
