// Package parse has the common parts of trace readers: options and summaries, errors with file, line, column
// and value, lines and rows of delimited files, times, and the checks of every arrival (Feed).
package parse
