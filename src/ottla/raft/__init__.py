"""Consensus in KRaft's shape, without I/O: requests, responses, time and finished syncs go in; replies, sends
and wishes come out.
"""
