package crontab

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// settingLine matches NAME = with quotes and white space around it. It does not match lines that begin like a time.
var settingLine = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s=*@0-9"'-][^\s=]*)[ \t]*=[ \t]*`)

// cutSetting returns the name and the unparsed value of a line that sets a variable.
func cutSetting(text string) (name, value string, is bool) {
	found := settingLine.FindStringSubmatch(text)
	if found == nil {
		return "", "", false
	}
	return strings.Trim(found[1], `"'`), text[len(found[0]):], true
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseSetting parses the value and sets the variable for the following entries.
func (r *parser) parseSetting(l line, name, text string) {
	if !settingName.MatchString(name) {
		r.refuse(l.number, name, "is not the name of a variable", "use letters, digits and _, and begin with a letter or _")
		return
	}
	value, ok := unquote(text)
	if !ok {
		r.refuse(l.number, name, "has an invalid value: the closing quote is not at the end of the line", "put the whole value in quotes, or none of it")
		return
	}
	old, exists := r.settings[name]
	if !exists && len(r.settings) == SettingsMax {
		r.refuse(l.number, name, fmt.Sprintf("is one variable too many: at most %d are imported", SettingsMax), "set it in a script that the commands run")
		return
	}
	total := r.settingBytes + len(name) + len(value)
	if exists {
		total -= len(name) + len(old.Value)
	}
	if total > SettingMax {
		r.refuse(l.number, name, fmt.Sprintf("is too long: the variables have %d bytes with it; the limit is %d", total, SettingMax),
			"set it in a script that the commands run")
		return
	}
	r.settingBytes = total
	r.noteSetting(l, name, value, text)
	if r.settings == nil {
		r.settings = map[string]Setting{}
	}
	r.settings[name], r.entrySettings = Setting{name, value, l.number}, nil
}

// unquote returns a value without its quotes, or without trailing white space if it has no quotes.
func unquote(text string) (value string, ok bool) {
	text = strings.TrimRight(text, whiteSpace)
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return text, true
	}
	end := strings.IndexByte(text[1:], text[0])
	if end < 0 || end != len(text)-2 {
		return "", false
	}
	return text[1 : 1+end], true
}

// cronSettings are the settings that configure cron itself, with a note for those that Rota ignores. They are not part
// of the environment of a command.
var cronSettings = map[string]string{
	"MAILTO":                    "",
	"CRON_TZ":                   "",
	"LOGNAME":                   "LOGNAME is ignored: cron does not allow setting it either",
	"MAILFROM":                  "MAILFROM is ignored: Rota sends no mail",
	"CONTENT_TYPE":              "CONTENT_TYPE is ignored: Rota sends no mail",
	"CONTENT_TRANSFER_ENCODING": "CONTENT_TRANSFER_ENCODING is ignored: Rota sends no mail",
	"RANDOM_DELAY":              "RANDOM_DELAY is ignored: jobs start when they are due; to spread them, write H instead of a number",
	"START_HOURS_RANGE":         "START_HOURS_RANGE is ignored: it is for anacron; write the hours into the times",
}

// noteSetting adds a note for a setting that Rota ignores or whose effect may be unexpected.
func (r *parser) noteSetting(l line, name, value, text string) {
	if text := cronSettings[name]; text != "" {
		r.note(l.number, "%s", text)
		return
	}
	quoted := text != "" && (text[0] == '"' || text[0] == '\'')
	switch {
	case name == "SHELL" && value == "":
		r.note(l.number, "SHELL is empty; Rota uses /bin/sh")
	case name == "TZ":
		r.note(l.number, "TZ applies only to the commands, as in cron; CRON_TZ applies to the times")
	case strings.Contains(value, "$"):
		r.note(l.number, "%s contains a $, which is not expanded, as in cron", name)
	case !quoted && strings.Contains(value, " #"):
		r.note(l.number, "%s contains a #, which is part of the value and not a comment, as in cron", name)
	}
}

// environment returns the settings for the environment of a command, sorted by name.
func (r *parser) environment() []Setting {
	if r.entrySettings != nil {
		return r.entrySettings
	}
	all := make([]Setting, 0, len(r.settings))
	for _, name := range slices.Sorted(maps.Keys(r.settings)) {
		if _, isCronSetting := cronSettings[name]; !isCronSetting {
			all = append(all, r.settings[name])
		}
	}
	r.entrySettings = all
	return all
}
