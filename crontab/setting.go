package crontab

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// settingLine matches NAME = with what may stand around it. What begins like a time is none.
var settingLine = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s=*@0-9"'-][^\s=]*)[ \t]*=[ \t]*`)

// cutSetting takes the name off a line that sets something.
func cutSetting(text string) (name, value string, is bool) {
	found := settingLine.FindStringSubmatch(text)
	if found == nil {
		return "", "", false
	}
	return strings.Trim(found[1], `"'`), text[len(found[0]):], true
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// setting reads the value and puts it in force.
func (r *reader) setting(l line, name, text string) {
	if !settingName.MatchString(name) {
		r.refuse(l.number, name, "is not the name of a variable", "use letters, digits and _, and no digit at the beginning")
		return
	}
	value, fine := unquote(text)
	if !fine {
		r.refuse(l.number, text, "is not a value: the quote is not closed at the end of the line", "put the whole value in quotes, or none of it")
		return
	}
	was, again := r.settings[name]
	if !again && len(r.settings) == SettingsMax {
		r.refuse(l.number, name, fmt.Sprintf("is one variable too many: at most %d are taken over", SettingsMax), "set it in a script that the commands run")
		return
	}
	weight := r.weight + len(name) + len(value)
	if again {
		weight -= len(name) + len(was)
	}
	if weight > SettingMax {
		r.refuse(l.number, name, fmt.Sprintf("is too long: the variables have %d bytes with it, and at most %d are taken over", weight, SettingMax),
			"set it in a script that the commands run")
		return
	}
	r.weight = weight
	r.remark(l, name, value, text)
	if r.settings == nil {
		r.settings = map[string]string{}
	}
	r.settings[name], r.inForce = value, nil
}

// unquote reads a value: in quotes as it stands between them, else up to the last that is no space.
func unquote(text string) (value string, fine bool) {
	text = strings.TrimRight(text, blank)
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return text, true
	}
	end := strings.IndexByte(text[1:], text[0])
	if end < 0 || end != len(text)-2 {
		return "", false
	}
	return text[1 : 1+end], true
}

// steering are the settings that are about cron itself. They are no part of a command's environment here.
var steering = map[string]string{
	"MAILTO":                    "",
	"CRON_TZ":                   "",
	"LOGNAME":                   "LOGNAME is not taken over: cron does not let it be set either",
	"MAILFROM":                  "MAILFROM is not taken over: Rota sends no mail",
	"CONTENT_TYPE":              "CONTENT_TYPE is not taken over: Rota sends no mail",
	"CONTENT_TRANSFER_ENCODING": "CONTENT_TRANSFER_ENCODING is not taken over: Rota sends no mail",
	"RANDOM_DELAY":              "RANDOM_DELAY is not taken over: jobs start when they are due; to spread them, write H in place of a number",
	"START_HOURS_RANGE":         "START_HOURS_RANGE is not taken over: it is for anacron; write the hours into the times",
}

// remark says what of a setting might surprise.
func (r *reader) remark(l line, name, value, text string) {
	if text := steering[name]; text != "" {
		r.note(l.number, "%s", text)
		return
	}
	quoted := text != "" && (text[0] == '"' || text[0] == '\'')
	switch {
	case name == "SHELL" && value == "":
		r.note(l.number, "SHELL is empty; /bin/sh is taken")
	case name == "TZ":
		r.note(l.number, "TZ is for the commands alone, as with cron; CRON_TZ is for the times")
	case strings.Contains(value, "$"):
		r.note(l.number, "%s has a $ in it, which stays as it is: cron does not replace it either", name)
	case !quoted && strings.Contains(value, " #"):
		r.note(l.number, "%s has a # in it, which is part of the value and no comment, as with cron", name)
	}
}

// settingsOf are those that a command's environment has, by name.
func (r *reader) settingsOf() []Setting {
	if r.inForce != nil {
		return r.inForce
	}
	all := make([]Setting, 0, len(r.settings))
	for _, name := range slices.Sorted(maps.Keys(r.settings)) {
		if _, steers := steering[name]; !steers {
			all = append(all, Setting{name, r.settings[name]})
		}
	}
	r.inForce = all
	return all
}
