package session

import (
	"errors"
	"fmt"
	"strings"
)

// splitWords splits the text of EXEC into a program and its arguments, as a shell splits words with quotes. It expands nothing: what
// only a shell can do is an error, since a program would otherwise get characters that were meant for the shell.
func splitWords(text string) (words []string, err error) {
	s := wordScanner{rest: text}
	for {
		s.rest = strings.TrimLeft(s.rest, " \t\n")
		if s.rest == "" {
			break
		}
		word, err := s.word(len(words) == 0)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the text names no program")
	}
	return words, nil
}

type wordScanner struct{ rest string }

const (
	shellCharacters = "|&;<>()$`*?["
	shellFirst      = "~#" // only at the beginning of a word
)

// word reads one word.
func (s *wordScanner) word(first bool) (string, error) {
	var b strings.Builder
	for begin := s.rest; s.rest != ""; {
		c := s.rest[0]
		switch {
		case strings.IndexByte(" \t\n", c) >= 0:
			return b.String(), nil
		case c == '\'' || c == '"':
			if err := s.quoted(&b, c); err != nil {
				return "", err
			}
			continue
		case c == '\\':
			if len(s.rest) == 1 {
				return "", errors.New("it ends with a backslash")
			}
			c, s.rest = s.rest[1], s.rest[1:]
		case strings.IndexByte(shellCharacters, c) >= 0, len(s.rest) == len(begin) && strings.IndexByte(shellFirst, c) >= 0:
			return "", fmt.Errorf("the character %c needs a shell", c)
		case first && c == '=' && isVariable(begin[:len(begin)-len(s.rest)]):
			return "", errors.New("the assignment of a variable needs a shell")
		}
		b.WriteByte(c)
		s.rest = s.rest[1:]
	}
	return b.String(), nil
}

// quoted reads a part in quotes.
func (s *wordScanner) quoted(b *strings.Builder, quote byte) error {
	for s.rest = s.rest[1:]; s.rest != ""; s.rest = s.rest[1:] {
		switch c := s.rest[0]; {
		case c == quote:
			s.rest = s.rest[1:]
			return nil
		case quote == '"' && (c == '$' || c == '`'):
			return fmt.Errorf("the character %c in double quotes needs a shell", c)
		case quote == '"' && c == '\\' && len(s.rest) > 1 && strings.IndexByte("$`\"\\", s.rest[1]) >= 0:
			s.rest = s.rest[1:]
			b.WriteByte(s.rest[0])
		default:
			b.WriteByte(c)
		}
	}
	return openQuoteError(quote)
}

// openQuoteError is a quotation mark without its second one.
type openQuoteError byte

func (e openQuoteError) Error() string {
	return fmt.Sprintf("a quotation mark %c is not closed", byte(e))
}

func isVariable(name string) bool {
	for i, c := range []byte(name) {
		if !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}

// joinWords returns a text that splitWords splits into the words.
func joinWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if back, err := splitWords(word); i > 0 && strings.Contains(word, "=") || err == nil && len(back) == 1 && back[0] == word {
			quoted[i] = word
		}
		if quoted[i] == "" || strings.ContainsAny(word, " \t\n'\"\\"+shellCharacters) || strings.IndexByte(shellFirst, word[0]) >= 0 {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
