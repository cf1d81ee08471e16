package translate

import (
	"math"
	"strconv"
	"strings"
)

// numberByPattern formats a number with the pattern elements 9, 0, comma, point, D, G, FM, S
// and MI.
func numberByPattern(f float64, pattern string) (any, error) {
	up := strings.ToUpper(pattern)
	for _, word := range []string{"EEEE", "RN", "PR", "L", "V", "TH", "SG", "PL", "\""} {
		if strings.Contains(up, word) {
			return nil, valueError(StateUnsupported, "%s is not supported in a number format", word).withHint("use 9, 0, comma, point, D, G, FM, S and MI")
		}
	}
	fill := !strings.Contains(up, "FM")
	up = strings.ReplaceAll(up, "FM", "")
	signed := strings.Contains(up, "S") || strings.Contains(up, "MI")
	body := strings.NewReplacer("S", "", "MI", "", "D", ".", "G", ",").Replace(up)
	before, after, point := strings.Cut(body, ".")
	digits := strings.Count(after, "9") + strings.Count(after, "0")
	text := strconv.FormatFloat(math.Abs(roundTo(f, digits)), 'f', digits, 64)
	wholePart, rest, _ := strings.Cut(text, ".")
	places := strings.Count(before, "9") + strings.Count(before, "0")
	if len(wholePart) > places && !(wholePart == "0" && places == 0) {
		wholePart, rest = strings.Repeat("#", places), strings.Repeat("#", digits)
	}
	out := wholeByPattern(wholePart, before, fill)
	if point {
		if !fill {
			keep := strings.LastIndexByte(after, '0') + 1
			for len(rest) > keep && strings.HasSuffix(rest, "0") {
				rest = rest[:len(rest)-1]
			}
		}
		out += "." + rest
	}
	return signedText(out, f < 0, signed, fill), nil
}

func roundTo(f float64, digits int) float64 {
	v, err := decimal(f, int64(digits), true)
	if err != nil {
		return f
	}
	return realOf(v)
}

// wholeByPattern fills the digits before the decimal point from the right.
func wholeByPattern(digits, pattern string, fill bool) string {
	out := make([]byte, 0, len(pattern))
	zero := strings.IndexByte(pattern, '0')
	d := len(digits) - 1
	if digits == "0" && zero < 0 && strings.Count(pattern, "9") > 0 {
		d = 0
	}
	for i := len(pattern) - 1; i >= 0; i-- {
		c := pattern[i]
		switch {
		case c == '9' || c == '0':
			switch {
			case d >= 0:
				out = append(out, digits[d])
				d--
			case zero >= 0 && i >= zero:
				out = append(out, '0')
			case fill:
				out = append(out, ' ')
			}
		case c == ',' && (d >= 0 || zero >= 0 && i > zero):
			out = append(out, ',')
		case c == ',' && fill:
			out = append(out, ' ')
		case c != ',':
			out = append(out, c)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// signedText puts the sign before the first digit, or a blank if there is no sign.
func signedText(text string, negative, signed, fill bool) string {
	blank := len(text) - len(strings.TrimLeft(text, " "))
	sign := ""
	switch {
	case negative:
		sign = "-"
	case signed:
		sign = "+"
	case fill:
		return " " + text
	}
	return text[:blank] + sign + text[blank:]
}
