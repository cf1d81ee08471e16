package node

import (
	"strings"

	"github.com/rotajobs/rota"
)

// nearest is the word that was probably meant, or nothing if none is near.
func nearest(word string, words []string) (near string) {
	if len(word) > 2*rota.NameMax {
		return "" // nobody meant this
	}
	same := strings.NewReplacer("-", "_").Replace(strings.ToLower(word))
	least := min(3, len(word)/2) + 1
	for _, candidate := range words {
		d := distance(same, strings.ToLower(candidate))
		if d < least {
			near, least = candidate, d
		}
	}
	return near
}

// distance is how many letters have to be put in, left out or replaced to make
// one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
