// Package suggest finds the word that a misspelled one was probably meant to be.
package suggest

import "strings"

// Nearest returns the candidate that text was probably meant to be, or "". It accepts one
// mistake in a short word, two in a longer one. Of equally near candidates it returns the
// first.
func Nearest(text string, candidates []string) string {
	if len(text) > 64 {
		return ""
	}
	best, least := "", 1+min(2, (len(text)+1)/3)
	for _, c := range candidates {
		if len(c) > 64 {
			continue
		}
		if d := distance(text, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to change, to add, to remove or to swap with the next one
// until a is b. Differences of upper and lower case count as one mistake altogether.
func distance(a, b string) int {
	if strings.EqualFold(a, b) {
		return min(1, len(a))
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
