"""The kernel that copies a tensor, in this layout or another, in native code: what a trace has for such a step.

Bound: reads and writes every row once.
"""

from __future__ import annotations

from ttnn_jit.runtime.ir_text import word
from ttnn_jit.runtime.structures import CopyWords

COPY_SYMBOL = "ttnn_jit_copy"

COPY_TEXT = f"""
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @{COPY_SYMBOL}(ptr %operands, ptr %params) {{
entry:
  %source = load ptr, ptr %operands
  %target.at = getelementptr ptr, ptr %operands, i64 1
  %target = load ptr, ptr %target.at
{word("batches", "params", CopyWords.batches)}
{word("rows", "params", CopyWords.rows)}
{word("row.bytes", "params", CopyWords.row_bytes)}
{word("source.row", "params", CopyWords.source_row)}
{word("source.batch", "params", CopyWords.source_batch)}
{word("target.row", "params", CopyWords.target_row)}
{word("target.batch", "params", CopyWords.target_batch)}
  %beside = sub i64 %target.row, %row.bytes
  %written = mul i64 %target.row, %rows
  %below = sub i64 %target.batch, %written
  br label %batch

batch:
  %b = phi i64 [ 0, %entry ], [ %b.next, %pad ]
  %from = phi ptr [ %source, %entry ], [ %from.next, %pad ]
  %to = phi ptr [ %target, %entry ], [ %to.next, %pad ]
  br label %row

row:
  %r = phi i64 [ 0, %batch ], [ %r.next, %row ]
  %read = phi ptr [ %from, %batch ], [ %read.next, %row ]
  %write = phi ptr [ %to, %batch ], [ %write.next, %row ]
  call void @llvm.memmove.p0.p0.i64(ptr %write, ptr %read, i64 %row.bytes, i1 false)
  %rest = getelementptr i8, ptr %write, i64 %row.bytes
  call void @llvm.memset.p0.i64(ptr %rest, i8 0, i64 %beside, i1 false)
  %read.next = getelementptr i8, ptr %read, i64 %source.row
  %write.next = getelementptr i8, ptr %write, i64 %target.row
  %r.next = add i64 %r, 1
  %rows.left = icmp ult i64 %r.next, %rows
  br i1 %rows.left, label %row, label %pad

pad:
  call void @llvm.memset.p0.i64(ptr %write.next, i8 0, i64 %below, i1 false)
  %from.next = getelementptr i8, ptr %from, i64 %source.batch
  %to.next = getelementptr i8, ptr %to, i64 %target.batch
  %b.next = add i64 %b, 1
  %batches.left = icmp ult i64 %b.next, %batches
  br i1 %batches.left, label %batch, label %done

done:
  ret void
}}
"""
