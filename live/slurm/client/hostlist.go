package client

import (
	"fmt"
	"strconv"
	"strings"
)

const mostNodes = 1 << 17

// nodenames returns the names in a Slurm host list such as "a[1-2],rack[0-1]n[08-10],c1". An invalid list is an
// ErrMalformed.
func nodenames(list string) ([]string, error) {
	var all []string
	for list != "" && list != "(null)" {
		end := itemEnd(list)
		item := list[:end]
		list = strings.TrimPrefix(list[end:], ",")
		names, err := expanded(item)
		if err != nil {
			return nil, err
		}
		if all = append(all, names...); len(all) > mostNodes {
			return nil, fmt.Errorf("%w: a list of more than %d nodes", ErrMalformed, mostNodes)
		}
	}
	return all, nil
}

func itemEnd(list string) int {
	depth := 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(list)
}

func expanded(item string) ([]string, error) {
	head, rest, ranged := strings.Cut(item, "[")
	if !ranged {
		if item == "" || strings.ContainsAny(item, "] \t\n|=") {
			return nil, fmt.Errorf("%w: node %q, want a name", ErrMalformed, item)
		}
		return []string{item}, nil
	}
	within, tail, closed := strings.Cut(rest, "]")
	if !closed {
		return nil, fmt.Errorf("%w: nodes %q, want a ] after the [", ErrMalformed, item)
	}
	ends := []string{""}
	if tail != "" {
		var err error
		if ends, err = expanded(tail); err != nil {
			return nil, err
		}
	}
	var all []string
	for part := range strings.SplitSeq(within, ",") {
		numbers, err := numbersOf(part)
		if err != nil || len(numbers)*len(ends)+len(all) > mostNodes {
			return nil, fmt.Errorf("%w: nodes %q, want ranges like [1-4,7] of at most %d", ErrMalformed, item, mostNodes)
		}
		for _, n := range numbers {
			for _, end := range ends {
				all = append(all, head+n+end)
			}
		}
	}
	return all, nil
}

func numbersOf(part string) ([]string, error) {
	first, last, ranged := strings.Cut(part, "-")
	if !ranged {
		last = first
	}
	low, err := strconv.ParseUint(first, 10, 32)
	if err != nil {
		return nil, err
	}
	high, err := strconv.ParseUint(last, 10, 32)
	if err != nil || high < low || high-low >= mostNodes {
		return nil, strconv.ErrRange
	}
	var all []string
	for n := low; n <= high; n++ {
		all = append(all, fmt.Sprintf("%0*d", len(first), n))
	}
	return all, nil
}
