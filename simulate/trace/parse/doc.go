// Package parse has what readers of trace formats share: their options (Options) and their results
// beside arrivals (Summary), errors that name file, line, column and value (Error), lines and rows
// of delimited files (Lines, Row, Table), times, and the checks that every arrival must pass
// (Feed). Package trace has the formats.
package parse
