// Package nodepool rents, borrows, marks and returns the nodes of a queue, as the committed plan wants.
package nodepool
