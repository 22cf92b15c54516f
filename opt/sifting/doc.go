// Package sifting solves linear programs of many more columns than rows by few of their
// columns at a time, and starts each from the columns that the last one needed.
//
// A restricted program has all rows, the columns of the working set, and for each side of
// a row a column that meets it at a price, so that it always has a point. Another solver
// solves it. Its multipliers price all other columns, which rest at a bound; those whose
// reduced cost says that they should move join the working set, of each row the worst few.
// That ends with no such column: then point and multipliers are optimal for the whole
// program, which lp.Grade computes again from the program itself.
//
// Where the prices of rows turn out to be too low, they are raised; where nothing helps (a
// program without a point, say), the other solver gets the whole program.
//
// It costs a pass over all columns for each restricted program.
//
// Source: Bixby, Gregory, Lustig, Marsten and Shanno, "Very large-scale linear
// programming: a case study in combining interior point and simplex methods",
// Operations Research 40 (1992), where it is called sifting.
package sifting
