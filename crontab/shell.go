package crontab

import "strings"

// splitShell splits a shell text into its simple commands, each as its words without quotes. It knows quotes, backslashes,
// comments, redirections, which it drops, and the operators between commands. It expands nothing: a $(…) is a part of its
// word. Names need no more.
func splitShell(text string) [][]string {
	s := shellSplitter{text: text}
	for s.at < len(s.text) {
		s.next()
	}
	s.endCommand()
	return s.commands
}

type shellSplitter struct {
	text     string
	at       int
	word     strings.Builder
	inWord   bool // also true for an empty word in quotes
	redirect bool // the next word is the target of a redirection
	words    []string
	commands [][]string
}

// next reads one character or one construct.
func (s *shellSplitter) next() {
	switch c := s.text[s.at]; {
	case c == ' ' || c == '\t':
		s.endWord()
		s.at++
	case c == '#' && !s.inWord:
		s.at = s.indexFrom(s.at, '\n')
	case c == '&' && strings.HasPrefix(s.text[s.at:], "&>"), c == '<', c == '>':
		s.beginRedirection()
	case strings.IndexByte(";&|()\n", c) >= 0:
		s.endCommand()
		s.at++
	case c == '\'':
		end := s.indexFrom(s.at+1, '\'')
		s.add(s.text[s.at+1:end], end+1)
	case c == '"':
		s.quoted()
	case c == '\\' && s.at+1 < len(s.text):
		s.add(s.text[s.at+1:s.at+2], s.at+2)
	case c == '$' || c == '`':
		end := s.substitutionEnd(s.at)
		s.add(s.text[s.at:end], end)
	default:
		s.add(s.text[s.at:s.at+1], s.at+1)
	}
}

// quoted reads a text in double quotes.
func (s *shellSplitter) quoted() {
	s.inWord = true
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return
		case c == '\\' && s.at+1 < len(s.text):
			s.add(s.text[s.at+1:s.at+2], s.at+2)
		case c == '$' || c == '`':
			end := s.substitutionEnd(s.at)
			s.add(s.text[s.at:end], end)
		default:
			s.add(s.text[s.at:s.at+1], s.at+1)
		}
	}
}

// substitutionEnd returns the end of $(…), ${…} or `…`, or of a single character.
func (s *shellSplitter) substitutionEnd(at int) int {
	rest := s.text[at:]
	switch {
	case rest[0] == '`':
		return min(s.indexFrom(at+1, '`')+1, len(s.text))
	case strings.HasPrefix(rest, "${"):
		return min(s.indexFrom(at, '}')+1, len(s.text))
	case strings.HasPrefix(rest, "$("):
		depth := 0
		for i := at; i < len(s.text); i++ {
			switch s.text[i] {
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(s.text)
	}
	return at + 1
}

// indexFrom returns the position of a character, or the end of the text.
func (s *shellSplitter) indexFrom(from int, c byte) int {
	if i := strings.IndexByte(s.text[from:], c); i >= 0 {
		return from + i
	}
	return len(s.text)
}

func (s *shellSplitter) add(text string, next int) {
	s.word.WriteString(text)
	s.inWord, s.at = true, min(next, len(s.text))
}

// beginRedirection drops the number of the file before the operator, and the target after it.
func (s *shellSplitter) beginRedirection() {
	if strings.Trim(s.word.String(), "0123456789") == "" {
		s.word.Reset()
		s.inWord = false
	}
	s.endWord()
	for s.at < len(s.text) && strings.IndexByte("<>&|", s.text[s.at]) >= 0 {
		s.at++
	}
	s.redirect = true
}

func (s *shellSplitter) endWord() {
	if s.inWord {
		if !s.redirect {
			s.words = append(s.words, s.word.String())
		}
		s.redirect = false
	}
	s.word.Reset()
	s.inWord = false
}

func (s *shellSplitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words, s.redirect = nil, false
}
