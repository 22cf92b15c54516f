// Package parse is what readers of trace formats share: what a reader is asked for (Options) and
// answers beside arrivals (Summary), errors that name file, line, column and value (Error), lines
// and rows of delimited files (Lines, Row, Table), times, and the checks that every arrival passes
// on its way to whoever asked (Feed). Package trace has the formats.
package parse
